// expect: pass
// Threads that are created without attributes get those that the program has set as the usual ones, and a thread gets the guard it
// asks for, also where an idle thread of the same size is at hand.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

enum { MIB = 1 << 20, PAGE = 4096 };

struct wanted { size_t stack, guard; int blocks; };

static void *look(void *argument) {
    struct wanted *wanted = argument;
    pthread_attr_t a;
    sigset_t mask;
    size_t size, guard;
    void *low;
    pthread_getattr_np(pthread_self(), &a);
    pthread_attr_getstack(&a, &low, &size);
    pthread_attr_getguardsize(&a, &guard);
    pthread_attr_destroy(&a);
    pthread_sigmask(SIG_BLOCK, 0, &mask);
    assert(wanted->stack == 0 || size == wanted->stack);
    assert(guard == wanted->guard);
    assert(sigismember(&mask, SIGUSR2) == wanted->blocks);
    return 0;
}

static void run(pthread_attr_t *a, struct wanted wanted) {
    pthread_t t;
    assert(pthread_create(&t, a, look, &wanted) == 0);
    assert(pthread_join(t, 0) == 0);
}

int main(void) {
    pthread_attr_t fresh, set;
    sigset_t mask;
    pthread_attr_init(&fresh);
    run(0, (struct wanted){0, PAGE, 0});
    for (int pages = 1; pages <= 16; pages *= 4) {
        pthread_attr_setguardsize(&fresh, pages * PAGE);
        run(&fresh, (struct wanted){0, pages * PAGE, 0});
    }
    pthread_attr_init(&set);
    pthread_attr_setstacksize(&set, 2 * MIB);
    pthread_attr_setguardsize(&set, 8 * PAGE);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    pthread_attr_setsigmask_np(&set, &mask);
    assert(pthread_setattr_default_np(&set) == 0);
    run(0, (struct wanted){2 * MIB, 8 * PAGE, 1});
    run(&fresh, (struct wanted){0, 16 * PAGE, 0});
    run(0, (struct wanted){2 * MIB, 8 * PAGE, 1});
}
