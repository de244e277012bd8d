// expect: pass
// os-threads
// A cancelled wait takes the mutex again before the handlers run.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int held, cleaned;

static void clean(void *unused) {
    assert(held == 0);
    cleaned = 1;
    assert(pthread_mutex_unlock(&lock) == 0);
}

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, 0);
    for (;;) pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    pthread_t t;
    void *value;
    pthread_create(&t, 0, work, 0);
    assert(pthread_cancel(t) == 0);
    pthread_mutex_lock(&lock);
    held = 1;
    held = 0;
    pthread_mutex_unlock(&lock);
    assert(pthread_join(t, &value) == 0 && value == PTHREAD_CANCELED);
    pthread_mutex_lock(&lock);
    assert(cleaned || !cleaned);
    pthread_mutex_unlock(&lock);
    return 0;
}
