// As late_timeout, but the job is settled by one atomic step.
#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int settled;
static volatile sig_atomic_t verdicts;

static void on_alarm(int signal) {
    (void)signal;
    if (atomic_exchange(&settled, 1) == 0) verdicts = 1;
}

int main(void) {
    signal(SIGALRM, on_alarm);
    alarm(5);
    if (atomic_exchange(&settled, 1) == 0) verdicts = 1;
    alarm(0);
    assert(verdicts == 1);
    return 0;
}
