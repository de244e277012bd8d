// expect: pass
// The only thread of a forked process leaves it by pthread_exit, and a function of the end sends a signal.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void at_end(void) { kill(getpid(), SIGUSR1); }

static void *work(void *unused) {
    int status;
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        atexit(at_end);
        pthread_exit(0);
    }
    assert(waitpid(child, &status, 0) == child);
    assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
}
