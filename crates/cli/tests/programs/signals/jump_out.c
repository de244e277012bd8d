// expect: pass
// reaches: jumped finished
// os-threads
// A handler may be left by a jump, which puts the mask back: the next signal comes through.
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>
static sigjmp_buf back;
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void deep(int n) {
    if (n == 0) siglongjmp(back, 7);
    deep(n - 1);
}

static void on_alarm(int signal) { deep(3); }

static void *work(void *unused) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    for (int i = 0; i < 3; i++) __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t other;
    volatile int jumps = 0;
    signal(SIGALRM, on_alarm);
    pthread_create(&other, 0, work, 0);
    int code = sigsetjmp(back, 1);
    if (code != 0) {
        sigset_t now;
        assert(code == 7);
        jumps++;
        pthread_sigmask(SIG_BLOCK, 0, &now);
        assert(!sigismember(&now, SIGALRM));
    }
    if (jumps < 2) {
        alarm(1);
        for (int i = 0; i < 3; i++) __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
        alarm(0);
    }
    reached(jumps > 0 ? "jumped" : "finished");
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_join(other, 0);
    return 0;
}
