// expect: pass
// options: --timers loose
// reaches: two-readers write-busy read-busy timeout
// os-threads
// Readers together, writers alone, tries and times with both outcomes.
#define _GNU_SOURCE
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;
static int readers, writers;

static void count(int *which, int by) {
    pthread_mutex_lock(&counts);
    *which += by;
    assert(writers == 0 || (writers == 1 && readers == 0));
    if (readers == 2) reached("two-readers");
    pthread_mutex_unlock(&counts);
}

static void *reader(void *unused) {
    assert(pthread_rwlock_rdlock(&lock) == 0);
    count(&readers, 1);
    count(&readers, -1);
    assert(pthread_rwlock_unlock(&lock) == 0);
    return unused;
}

static void *writer(void *unused) {
    assert(pthread_rwlock_wrlock(&lock) == 0);
    count(&writers, 1);
    assert(pthread_rwlock_wrlock(&lock) == EDEADLK);
    count(&writers, -1);
    assert(pthread_rwlock_unlock(&lock) == 0);
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a, b, c;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_create(&c, 0, writer, 0);
    int error = pthread_rwlock_trywrlock(&lock);
    if (error) {
        assert(error == EBUSY);
        reached("write-busy");
    } else {
        count(&writers, 1);
        count(&writers, -1);
        pthread_rwlock_unlock(&lock);
    }
    error = pthread_rwlock_tryrdlock(&lock);
    if (error) {
        assert(error == EBUSY);
        reached("read-busy");
    } else {
        pthread_rwlock_unlock(&lock);
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    error = pthread_rwlock_timedwrlock(&lock, &until);
    if (error) {
        assert(error == ETIMEDOUT);
        reached("timeout");
    } else {
        pthread_rwlock_unlock(&lock);
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    if (pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &until) == 0) pthread_rwlock_unlock(&lock);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    assert(pthread_rwlock_destroy(&lock) == 0);
    return 0;
}
