// expect: pass
// executions: 20
// What is no time, and no clock, is refused.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/select.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void *nothing(void *unused) { return unused; }

static void check(void) {
    struct timeval negative = {-1, 0}, before = {0, -1};
    struct timespec too_many = {0, 1000000000}, below = {0, -1}, now;
    assert(select(0, 0, 0, 0, &negative) == -1 && errno == EINVAL);
    assert(select(0, 0, 0, 0, &before) == -1 && errno == EINVAL);
    assert(select(-1, 0, 0, 0, 0) == -1 && errno == EINVAL);
    assert(pselect(0, 0, 0, 0, &too_many, 0) == -1 && errno == EINVAL);
    assert(nanosleep(&below, 0) == -1 && errno == EINVAL);
    assert(clock_nanosleep(77, 0, &too_many, 0) == EINVAL);
    assert(clock_nanosleep(CLOCK_MONOTONIC, 0, &too_many, 0) == EINVAL);
    assert(clock_gettime(77, &now) == -1 && errno == EINVAL);
    assert(clock_getres(77, &now) == -1 && errno == EINVAL);
    now = (struct timespec){1, 0};
    pthread_mutex_lock(&lock);
    assert(pthread_cond_clockwait(&condition, &lock, 77, &now) == EINVAL);
    assert(pthread_cond_timedwait(&condition, &lock, &too_many) == EINVAL);
    pthread_mutex_unlock(&lock);
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    assert(sem_clockwait(&semaphore, 77, &now) == -1 && errno == EINVAL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    assert(pthread_condattr_setclock(&attributes, 77) == EINVAL);
    timer_t timer;
    assert(timer_create(77, 0, &timer) == -1 && errno == EINVAL);
}

int main(void) {
    pthread_t thread;
    check();
    pthread_create(&thread, 0, nothing, 0);
    pthread_mutex_lock(&lock);
    struct timespec now = {1, 0};
    assert(pthread_mutex_clocklock(&lock, 77, &now) == EINVAL);
    pthread_mutex_unlock(&lock);
    assert(pthread_clockjoin_np(thread, 0, 77, &now) == EINVAL);
    check();
    pthread_join(thread, 0);
    return 0;
}
