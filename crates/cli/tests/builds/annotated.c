// A lock of the program's own, annotated for the thread sanitizer as its interface describes.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef __SANITIZE_THREAD__
#error "the wrapper instruments as the thread sanitizer does"
#endif

void __tsan_acquire(void *);
void __tsan_release(void *);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void AnnotateHappensBefore(const char *, int, const volatile void *);
void AnnotateHappensAfter(const char *, int, const volatile void *);
void AnnotateBenignRaceSized(const char *, int, const volatile void *, long, const char *);

static atomic_int lock;
static int guarded, loose;

static void *work(void *unused) {
    __tsan_mutex_pre_lock(&lock, 0);
    while (atomic_exchange(&lock, 1)) {
    }
    __tsan_mutex_post_lock(&lock, 0, 0);
    AnnotateHappensAfter(__FILE__, __LINE__, &lock);
    __tsan_acquire(&lock);
    guarded++;
    __tsan_release(&lock);
    AnnotateHappensBefore(__FILE__, __LINE__, &lock);
    __tsan_mutex_pre_unlock(&lock, 0);
    atomic_store(&lock, 0);
    __tsan_mutex_post_unlock(&lock, 0);
    __tsan_ignore_thread_begin();
    loose = 1;
    __tsan_ignore_thread_end();
    return unused;
}

int main(void) {
    AnnotateBenignRaceSized(__FILE__, __LINE__, &loose, sizeof loose, "both write one");
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(guarded == 2 && loose == 1);
}
