// expect: pass
// Mutexes that know their owner refuse a wait of somebody else, as they refuse to be unlocked.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutexes[3];
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void *wait_without(void *unused) {
    for (int i = 0; i < 3; i++) {
        struct timespec past = {1, 0};
        assert(pthread_cond_wait(&cond, &mutexes[i]) == EPERM);
        assert(pthread_cond_timedwait(&cond, &mutexes[i], &past) == EPERM);
    }
    return unused;
}

int main(void) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutexes[0], &a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutexes[1], &a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_NORMAL);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutexes[2], &a);
    pthread_t t;
    wait_without(0);
    for (int i = 0; i < 3; i++) pthread_mutex_lock(&mutexes[i]);
    pthread_create(&t, 0, wait_without, 0);
    pthread_join(t, 0);
}
