// expect: pass
// options: --timers loose
// reaches: early late timeout
// os-threads
// tryjoin and timedjoin may come before or after the thread's end.
#define _GNU_SOURCE
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static int shared;

static void *work(void *arg) {
    shared++;
    return (char *)arg + 1;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a, b, c;
    void *value;
    char base[4];
    assert(pthread_create(&a, 0, work, base) == 0);
    int error = pthread_tryjoin_np(a, &value);
    assert(error == 0 || error == EBUSY);
    reached(error ? "early" : "late");
    if (error) assert(pthread_join(a, &value) == 0);
    assert(value == base + 1);

    assert(pthread_create(&b, 0, work, base + 1) == 0);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    error = pthread_timedjoin_np(b, &value, &until);
    assert(error == 0 || error == ETIMEDOUT);
    if (error) {
        reached("timeout");
        assert(pthread_join(b, &value) == 0);
    }
    assert(value == base + 2);

    pthread_create(&c, 0, work, base);
    assert(pthread_join(pthread_self(), 0) == EDEADLK);
    assert(pthread_equal(c, c) && !pthread_equal(c, pthread_self()));
    pthread_join(c, 0);
    assert(shared == 3);
    return 0;
}
