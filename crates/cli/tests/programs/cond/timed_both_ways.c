// expect: pass
// options: --timers loose
// reaches: signalled timeout clock-signalled clock-timeout
// os-threads
// A timed wait may be signalled or time out; the mutex is held either way.
#define _GNU_SOURCE
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER, other;
static int inside;

static void *signaller(void *unused) {
    pthread_mutex_lock(&lock);
    assert(!inside);
    pthread_cond_signal(&cond);
    pthread_cond_signal(&other);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t t;
    pthread_condattr_t attr;
    struct timespec until;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&other, &attr);
    pthread_mutex_lock(&lock);
    pthread_create(&t, 0, signaller, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 100;
    int error = pthread_cond_timedwait(&cond, &lock, &until);
    inside = 1;
    assert(error == 0 || error == ETIMEDOUT);
    reached(error ? "timeout" : "signalled");
    if (error) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        assert(now.tv_sec >= until.tv_sec);
    }
    inside = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 100;
    error = pthread_cond_clockwait(&other, &lock, CLOCK_MONOTONIC, &until);
    reached(error ? "clock-timeout" : "clock-signalled");
    until.tv_nsec = 2000000000;
    assert(pthread_cond_timedwait(&cond, &lock, &until) == EINVAL);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
