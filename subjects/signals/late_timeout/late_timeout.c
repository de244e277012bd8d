// An alarm gives up on a job that is just being finished: who is told twice has a problem.
#include <assert.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t done, verdicts;

static void on_alarm(int signal) {
    (void)signal;
    if (!done) verdicts++;
}

int main(void) {
    signal(SIGALRM, on_alarm);
    alarm(5);
    if (verdicts == 0) {
        verdicts++;
        done = 1;
    }
    alarm(0);
    assert(verdicts == 1);
    return 0;
}
