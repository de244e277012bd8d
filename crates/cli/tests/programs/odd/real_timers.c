// expect: pass
// executions: 20
// An alarm would ring in real time, in the middle of anything; in virtual time it does not.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t rung;
static void ring(int signal) { rung++; }
static int shared;
static void *work(void *unused) {
    for (int i = 0; i < 100; i++) {
        sleep(1);
        __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}
int main(void) {
    pthread_t a;
    struct itimerval often = {{0, 1}, {0, 1}};
    signal(SIGALRM, ring);
    pthread_create(&a, 0, work, 0);
    assert(setitimer(ITIMER_REAL, &often, 0) == 0);
    alarm(1);
    work(0);
    pthread_join(a, 0);
    assert(rung == 0);
    return 0;
}
