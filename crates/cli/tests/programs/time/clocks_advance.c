// expect: pass
// Who asks for the time in a loop gets there, and a duration can be taken off what a clock shows.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int steps;
static long long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}
static void *work(void *unused) {
    long long begin = now(CLOCK_MONOTONIC);
    while (now(CLOCK_MONOTONIC) - begin <= 500000) steps++;
    return unused;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, work, 0);
    assert(now(CLOCK_MONOTONIC) > 24LL * 3600 * 1000000000);
    assert(now(CLOCK_REALTIME) > 1700000000LL * 1000000000);
    work(0);
    pthread_join(other, 0);
    return 0;
}
