// expect: pass
// A child process that fails dies by the signal that its parent expects.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int zero;

static void *work(void *unused) { return unused; }
static void aborts(void) { abort(); }
static void asserts(void) { assert(zero); }
static void divides(void) { zero = 100 / zero; }
static void writes(void) { *(volatile int *)0 = 1; }

static int dies_of(void (*body)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(void) {
    pthread_t thread;
    assert(dies_of(aborts) == SIGABRT);
    pthread_create(&thread, 0, work, 0);
    assert(dies_of(aborts) == SIGABRT);
    assert(dies_of(asserts) == SIGABRT);
    assert(dies_of(divides) == SIGFPE);
    assert(dies_of(writes) == SIGSEGV);
    pthread_join(thread, 0);
    return 0;
}
