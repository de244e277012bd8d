// expect: pass
// reaches: never once often
// executions: 100
// strategies: all
// os-threads
// A timer with an interval rings in virtual time: as often as the program waits for it, and never without end.
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t rung;
static void ring(int signal) { rung++; }
static int shared;
static void *work(void *unused) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    for (int i = 0; i < 10; i++) {
        sleep(1);
        __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}
int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a;
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}}, before;
    signal(SIGALRM, ring);
    pthread_create(&a, 0, work, 0);
    assert(setitimer(ITIMER_REAL, &often, 0) == 0);
    for (int i = 0; i < 3; i++) __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    if (rung == 0) reached("never");
    if (rung == 1) reached("once");
    if (rung >= 3) reached("often");
    while (rung < 12) pause();
    assert(setitimer(ITIMER_REAL, &never, &before) == 0 && before.it_interval.tv_usec == 100);
    int last = rung;
    pthread_join(a, 0);
    assert(rung == last && shared == 13);
    return 0;
}
