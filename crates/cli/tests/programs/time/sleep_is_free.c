// expect: pass
// options: --timers loose
// reaches: long-first short-first
// os-threads
// A thousand seconds pass at once, and sleeping orders nothing.
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
#include <time.h>
static int order;
static void *sleeper(void *arg) {
    long seconds = (long)arg;
    struct timespec before, after, length = {seconds, 0};
    clock_gettime(CLOCK_MONOTONIC, &before);
    nanosleep(&length, 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec - before.tv_sec >= seconds);
    if (__atomic_fetch_add(&order, 1, __ATOMIC_SEQ_CST) == 0) reached(seconds > 1 ? "long-first" : "short-first");
    return 0;
}
int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a, b;
    pthread_create(&a, 0, sleeper, (void *)1000);
    pthread_create(&b, 0, sleeper, (void *)1);
    sleep(1000);
    usleep(1000);
    pthread_join(a, 0);
    pthread_join(b, 0);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 100000;
    assert(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, 0) == 0);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert(now.tv_sec >= until.tv_sec);
    return 0;
}
