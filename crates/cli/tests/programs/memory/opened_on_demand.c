// expect: pass
// executions: 200
// Two threads whose writes are faults at first; the handler opens the page.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
static char *pages;
static atomic_int opened;

static void open_page(int signal, siginfo_t *info, void *context) {
    char *page = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));
    assert(page >= pages && page < pages + 2 * PAGE);
    atomic_fetch_add(&opened, 1);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    (void)signal, (void)context;
}

static void *work(void *number) {
    long *mine = (long *)(pages + (intptr_t)number * PAGE);
    *mine = 5;
    long *shared = (long *)pages + 1 + (intptr_t)number;
    *shared = 6;
    return 0;
}

int main(void) {
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack}, was;
    struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    pages = mmap(0, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(sigaltstack(&alternate, 0) == 0 && sigaltstack(0, &was) == 0 && was.ss_flags == 0);
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGSEGV, 0, &before);
    assert((before.sa_flags & SA_NODEFER) == 0 && before.sa_sigaction == open_page);
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(*(long *)pages == 5 && *(long *)(pages + PAGE) == 5 && opened >= 2);
    return 0;
}
