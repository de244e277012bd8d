// expect: pass
// executions: 20
// A signal that is pending when the program waits for it, before its first thread.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>

static volatile int handled;

static void handler(int signal) { handled = signal; }
static void *nothing(void *unused) { return unused; }

int main(void) {
    sigset_t set, before;
    pthread_t thread;
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    raise(SIGUSR1);
    assert(handled == 0);
    assert(sigsuspend(&before) == -1 && errno == EINTR && handled == SIGUSR1);
    int signal;
    raise(SIGUSR1);
    assert(sigwait(&set, &signal) == 0 && signal == SIGUSR1);
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, 0);
    handled = 0;
    raise(SIGUSR1);
    assert(sigsuspend(&before) == -1 && handled == SIGUSR1);
    return 0;
}
