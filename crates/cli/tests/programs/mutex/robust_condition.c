// expect: pass
// executions: 100
// Who comes back from a condition to a robust mutex whose owner has ended is told so.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waits, ready;

static void *dies(void *unused) {
    int got = pthread_mutex_lock(&lock);
    assert(got == 0);
    ready = 1;
    pthread_cond_signal(&condition);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &robust);
    assert(pthread_mutex_lock(&lock) == 0);
    waits = 1;
    pthread_create(&thread, 0, dies, 0);
    int got = 0;
    while (!ready && got == 0) {
        got = pthread_cond_wait(&condition, &lock);
    }
    assert(got == EOWNERDEAD && ready && pthread_mutex_consistent(&lock) == 0);
    assert(pthread_mutex_unlock(&lock) == 0);
    pthread_join(thread, 0);

    // The same with a time limit.
    struct timespec far = {4000000000, 0};
    ready = 0, got = 0;
    assert(pthread_mutex_lock(&lock) == 0);
    pthread_create(&thread, 0, dies, 0);
    while (!ready && (got == 0 || got == ETIMEDOUT)) {
        got = pthread_cond_timedwait(&condition, &lock, &far);
    }
    assert(got == EOWNERDEAD && pthread_mutex_unlock(&lock) == 0);
    assert(pthread_mutex_lock(&lock) == ENOTRECOVERABLE);
    pthread_join(thread, 0);
    return 0;
}
