// expect: pass
// executions: 60
// A thread begins with the mask that its attributes say.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static void handler(int signal) { (void)signal; assert(!"the signal is blocked"); }

static void *work(void *unused) {
    sigset_t mask;
    int signal;
    pthread_sigmask(SIG_BLOCK, 0, &mask);
    assert(sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGUSR2));
    assert(sigwait(&mask, &signal) == 0 && signal == SIGUSR1);
    return unused;
}

int main(void) {
    pthread_t thread;
    sigset_t set;
    pthread_attr_t attributes;
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_attr_init(&attributes);
    assert(pthread_attr_setsigmask_np(&attributes, &set) == 0);
    pthread_create(&thread, &attributes, work, 0);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, 0);
    return 0;
}
