// expect: pass
// options: --timers loose
// reaches: busy free timeout got
// os-threads
// Timed and tried locks have both outcomes.
#define _GNU_SOURCE
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void enter(void) {
    assert(inside++ == 0);
    inside--;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    enter();
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    int error = pthread_mutex_trylock(&lock);
    assert(error == 0 || error == EBUSY);
    reached(error ? "busy" : "free");
    if (!error) enter();
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 3600;
    error = pthread_mutex_timedlock(&lock, &until);
    assert(error == 0 || error == ETIMEDOUT);
    reached(error ? "timeout" : "got");
    if (!error) enter();
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 3600;
    error = pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until);
    if (!error) enter();
    pthread_join(t, 0);
    until.tv_nsec = -1;
    pthread_mutex_lock(&lock);
    assert(pthread_mutex_timedlock(&lock, &until) == EINVAL);
    pthread_mutex_unlock(&lock);
    return 0;
}
