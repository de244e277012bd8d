// expect: pass
// reaches: early disarmed
// os-threads
// Timers of the program's own: they ring with their value, at any time from when they are armed, or never if
// disarmed; the earlier one rings first; whoever sleeps beyond their time has heard them.
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
static int order[4], rung;
static int shared;
static void ring(int signal, siginfo_t *info, void *unused) {
    assert(info->si_code == SI_TIMER);
    order[rung++] = info->si_value.sival_int;
}
static void *work(void *unused) {
    __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    return unused;
}
int main(int argc, char **argv) {
    GOAL(argc, argv);
    struct sigaction action = {.sa_sigaction = ring, .sa_flags = SA_SIGINFO};
    sigaction(SIGRTMIN, &action, 0);
    timer_t late, soon, never;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    event.sigev_value.sival_int = 2;
    assert(timer_create(CLOCK_MONOTONIC, &event, &late) == 0);
    event.sigev_value.sival_int = 1;
    assert(timer_create(CLOCK_MONOTONIC, &event, &soon) == 0);
    event.sigev_value.sival_int = 3;
    assert(timer_create(CLOCK_MONOTONIC, &event, &never) == 0);
    struct itimerspec left, two = {{0, 0}, {2, 0}}, one = {{0, 0}, {1, 0}}, none = {{0, 0}, {0, 0}};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    assert(timer_settime(late, 0, &two, 0) == 0);
    assert(timer_settime(soon, 0, &one, 0) == 0);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    if (rung == 2) reached("early");
    struct timespec rest = {5, 0};
    while (nanosleep(&rest, &rest) == -1) assert(errno == EINTR);
    assert(rung == 2 && order[0] == 1 && order[1] == 2);
    assert(timer_settime(never, 0, &one, 0) == 0);
    __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    assert(timer_settime(never, 0, &none, &left) == 0);
    if (rung == 2) reached("disarmed");
    assert((rung == 2) == (left.it_value.tv_sec + left.it_value.tv_nsec > 0));
    assert(timer_delete(never) == 0 && timer_settime(never, 0, &one, 0) == -1 && errno == EINVAL);
    pthread_join(a, 0);
    return 0;
}
