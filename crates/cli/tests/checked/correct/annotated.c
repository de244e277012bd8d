// Annotations say what a race detector cannot see: what comes before what, and which races do no harm.
#include <pthread.h>

void AnnotateHappensBefore(const char *file, int line, const volatile void *place);
void AnnotateHappensAfter(const char *file, int line, const volatile void *place);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *place, long size, const char *why);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void __tsan_acquire(void *place);
void __tsan_release(void *place);

static int handed_over, released, statistics, ignored, ready_token;
static volatile int flags[2];
#pragma GCC diagnostic ignored "-Wunused-parameter"

static void publish(volatile int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }
static int is_published(volatile int *flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }

static void *writer(void *unused) {
    handed_over = 1;
    AnnotateHappensBefore(__FILE__, __LINE__, &ready_token);
    publish(&flags[0]);
    released = 1;
    __tsan_release((void *)&flags[1]);
    publish(&flags[1]);
    statistics++;
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    ignored++;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    return unused;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    AnnotateBenignRaceSized(__FILE__, __LINE__, &statistics, sizeof statistics, "only counts");
    pthread_create(&thread, 0, writer, 0);
    if (is_published(&flags[0])) {
        AnnotateHappensAfter(__FILE__, __LINE__, &ready_token);
        sum += handed_over;
    }
    if (is_published(&flags[1])) {
        __tsan_acquire((void *)&flags[1]);
        sum += released;
    }
    statistics++;
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    ignored++;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    pthread_join(thread, 0);
    return sum > 2;
}
