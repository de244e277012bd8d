// expect: pass
// flags: -fexceptions
// options: --timers ordered
// A thread is cancelled in a signal handler on a stack of its own. The frames of the handler are unwound, and then those that it
// interrupted.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int ends[2];
static unsigned long cleaned;
static char stack[1 << 16];

static void clean(void *which) { cleaned = cleaned << 4 | (unsigned long)which; }

static void handle(int signal) {
    char byte;
    (void)signal;
    pthread_cleanup_push(clean, (void *)1L);
    read(ends[0], &byte, 1);
    pthread_cleanup_pop(0);
}

static void *work(void *unused) {
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own, 0);
    pthread_cleanup_push(clean, (void *)2L);
    pthread_cleanup_push(clean, (void *)3L);
    sleep(1000);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    pthread_t t;
    void *value;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    pipe(ends);
    pthread_create(&t, 0, work, 0);
    sleep(1);
    pthread_kill(t, SIGUSR1);
    sleep(1);
    pthread_cancel(t);
    pthread_join(t, &value);
    assert(value == PTHREAD_CANCELED && cleaned == 0x132);
}
