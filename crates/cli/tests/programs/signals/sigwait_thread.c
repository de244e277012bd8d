// expect: pass
// os-threads
// The usual pattern: all threads block the signals, one waits for them.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static sigset_t set;
static int seen[3];

static void *waiter(void *unused) {
    for (int i = 0; i < 2; i++) {
        int signal;
        assert(sigwait(&set, &signal) == 0);
        seen[signal == SIGUSR1 ? 0 : 1]++;
    }
    siginfo_t info;
    assert(sigwaitinfo(&set, &info) == SIGTERM && info.si_signo == SIGTERM);
    seen[2]++;
    return unused;
}

int main(void) {
    pthread_t t;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&t, 0, waiter, 0);
    pthread_kill(t, SIGUSR1);
    kill(getpid(), SIGUSR2);
    while (!__atomic_load_n(&seen[0], __ATOMIC_SEQ_CST) || !__atomic_load_n(&seen[1], __ATOMIC_SEQ_CST)) usleep(100);
    pthread_kill(t, SIGTERM);
    pthread_join(t, 0);
    assert(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
    struct timespec length = {10, 0};
    assert(sigtimedwait(&set, 0, &length) == -1);
    return 0;
}
