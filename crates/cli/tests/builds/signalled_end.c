// The main thread sleeps until a worker signals the process, whose number was noted at the start;
// a write to a pipe that nobody reads must not end a program that has blocked the signal for it.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pid_t self;
static volatile sig_atomic_t caught;
static int result;

static void handler(int signal) { caught = signal; }

static void *work(void *unused) {
    int ends[2];
    assert(pipe(ends) == 0);
    close(ends[0]);
    assert(write(ends[1], "x", 1) == -1 && errno == EPIPE);
    result = 7;
    assert(getpid() == self && gettid() != self);
    kill(self, SIGUSR2);
    return unused;
}

int main(void) {
    sigset_t set, before, pending;
    self = getpid();
    assert(gettid() == self);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    signal(SIGUSR2, handler);
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    assert(sigsuspend(&before) == -1 && errno == EINTR);
    assert(caught == SIGUSR2 && result == 7);
    pthread_join(worker, NULL);
    assert(sigpending(&pending) == 0 && !sigismember(&pending, SIGUSR2));
}
