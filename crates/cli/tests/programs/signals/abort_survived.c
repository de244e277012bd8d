// expect: pass
// A handler of SIGABRT may jump out of abort, or of a failed assertion: then the program goes on. Blocked or not, the signal comes.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static _Thread_local sigjmp_buf before;

static void survive(int signal) { siglongjmp(before, signal); }

static void *work(void *asserts) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    int caught = sigsetjmp(before, 1);
    if (!caught) {
        assert(!asserts);
        abort();
    }
    return (void *)(long)caught;
}

int main(void) {
    pthread_t threads[2];
    void *caught;
    signal(SIGABRT, survive);
    if (!sigsetjmp(before, 1)) abort();
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)i);
    if (!sigsetjmp(before, 1)) abort();
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &caught);
        if (caught != (void *)SIGABRT) exit(1);
    }
    return 0;
}
