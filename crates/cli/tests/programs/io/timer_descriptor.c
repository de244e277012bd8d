// expect: pass
// executions: 100
// A timer that is a descriptor rings by virtual time.
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int early, late;

static void *work(void *unused) {
    uint64_t rings;
    struct pollfd both[2] = {{early, POLLIN, 0}, {late, POLLIN, 0}};
    assert(poll(both, 2, -1) >= 1 && both[0].revents == POLLIN);
    assert(read(early, &rings, 8) == 8 && rings >= 1);
    assert(read(late, &rings, 8) == 8 && rings >= 1);
    return unused;
}

int main(void) {
    struct timespec begin, end;
    pthread_t thread;
    struct itimerspec soon = {{0, 0}, {3600, 0}}, later = {{60, 0}, {7200, 0}}, left;
    assert(timerfd_create(77, 0) < 0 && errno == EINVAL);
    early = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), late = timerfd_create(CLOCK_REALTIME, 0);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_create(&thread, 0, work, 0);
    assert(timerfd_settime(early, 0, &soon, 0) == 0 && timerfd_settime(late, 0, &later, 0) == 0);
    pthread_join(thread, 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert(end.tv_sec - begin.tv_sec >= 7199);
    assert(timerfd_gettime(late, &left) == 0 && left.it_interval.tv_sec == 60 && left.it_value.tv_sec <= 60);
    close(early);
    assert(timerfd_settime(early, 0, &soon, 0) < 0);
    return 0;
}
