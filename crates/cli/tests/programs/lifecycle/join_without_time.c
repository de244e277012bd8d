// expect: pass
// A join that may end by time waits for ever if it is given none.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static void *work(void *argument) {
    usleep(1000);
    return argument;
}

int main(void) {
    pthread_t t;
    void *value = 0;
    pthread_create(&t, 0, work, &value);
    assert(pthread_timedjoin_np(t, &value, 0) == 0 && value == &value);
    pthread_create(&t, 0, work, &t);
    assert(pthread_clockjoin_np(t, &value, CLOCK_MONOTONIC, 0) == 0 && value == &t);
}
