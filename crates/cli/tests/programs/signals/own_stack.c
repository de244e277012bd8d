// expect: pass
// os-threads
// A handler runs on the stack that its thread has set aside for it, if it is to.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static char *aside;
static volatile sig_atomic_t on, off;
static int shared;

static int is_aside(void *place) { return (char *)place >= aside && (char *)place < aside + 65536; }

static void on_stack(int signal) {
    char here;
    assert(is_aside(&here));
    __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    on++;
}

static void as_usual(int signal) {
    char here;
    assert(!is_aside(&here));
    off++;
}

static void *poke(void *target) {
    pthread_t thread = *(pthread_t *)target;
    pthread_kill(thread, SIGUSR1);
    pthread_kill(thread, SIGUSR2);
    return 0;
}

int main(void) {
    pthread_t self = pthread_self(), other;
    sigset_t none;
    aside = malloc(65536);
    stack_t stack = {.ss_sp = aside, .ss_size = 65536};
    assert(sigaltstack(&stack, 0) == 0);
    struct sigaction action = {.sa_handler = on_stack, .sa_flags = SA_ONSTACK};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, 0);
    action = (struct sigaction){.sa_handler = as_usual};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR2, &action, 0);
    pthread_create(&other, 0, poke, &self);
    __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    pthread_join(other, 0);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, 0);
    while (!on || !off) __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    return 0;
}
