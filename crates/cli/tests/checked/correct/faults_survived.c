// Two threads write where no memory is, and jump out of the handler for that: nothing was written.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

static _Thread_local sigjmp_buf before;
static atomic_int faults;

static void survive(int signal) { siglongjmp(before, signal); }

static void *work(void *unused) {
    if (sigsetjmp(before, 1) == 0) {
        *(volatile int *)8 = 1;
        assert(0);
    }
    faults++;
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_handler = survive};
    pthread_t one, other;
    sigaction(SIGSEGV, &action, 0);
    pthread_create(&one, 0, work, 0);
    pthread_create(&other, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(faults == 2);
    return 0;
}
