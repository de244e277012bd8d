// expect: pass
// os-threads
// Normal, recursive and error-checking mutexes, static and by attribute.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t check = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t made;
static int total;

static void *work(void *unused) {
    assert(pthread_mutex_lock(&plain) == 0);
    total++;
    assert(pthread_mutex_trylock(&plain) == EBUSY);
    assert(pthread_mutex_unlock(&plain) == 0);

    assert(pthread_mutex_lock(&again) == 0);
    assert(pthread_mutex_lock(&again) == 0);
    assert(pthread_mutex_trylock(&again) == 0);
    total++;
    for (int i = 0; i < 3; i++) assert(pthread_mutex_unlock(&again) == 0);
    assert(pthread_mutex_unlock(&again) == EPERM);

    assert(pthread_mutex_lock(&check) == 0);
    assert(pthread_mutex_lock(&check) == EDEADLK);
    assert(pthread_mutex_unlock(&check) == 0);
    assert(pthread_mutex_unlock(&check) == EPERM);

    assert(pthread_mutex_lock(&made) == 0);
    assert(pthread_mutex_lock(&made) == 0);
    assert(pthread_mutex_unlock(&made) == 0);
    assert(pthread_mutex_unlock(&made) == 0);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&made, &attr);
    pthread_mutexattr_destroy(&attr);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_mutex_destroy(&made);
    return 0;
}
