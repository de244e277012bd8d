// expect: pass
// os-threads
// raise() is delivered at once, unless blocked: then when unblocked. New threads inherit the mask.
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static __thread volatile sig_atomic_t count;
static int shared;

static void handler(int signal, siginfo_t *info, void *unused) {
    assert(info->si_signo == signal);
    count++;
}

static void *work(void *unused) {
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    shared++;
    assert(raise(SIGUSR1) == 0 && count == 1);
    assert(pthread_sigmask(SIG_BLOCK, 0, &old) == 0 && sigismember(&old, SIGUSR2));
    raise(SIGUSR2);
    assert(count == 1);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
    assert(count == 2);
    return unused;
}

int main(void) {
    pthread_t a, b;
    sigset_t set;
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGUSR2, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
