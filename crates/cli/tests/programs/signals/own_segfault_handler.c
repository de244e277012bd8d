// expect: pass
// os-threads
// A program that handles its own faults may go on after them.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

static __thread sigjmp_buf back;
static int caught;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal) { siglongjmp(back, signal); }

static void *work(void *unused) {
    if (sigsetjmp(back, 1) == 0) {
        *(volatile int *)8 = 1;
        assert(0);
    }
    pthread_mutex_lock(&lock);
    caught++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t a, b;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, 0);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(caught == 2);
    return 0;
}
