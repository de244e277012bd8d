// expect: pass
// options: --timers loose
// reaches: slept timeout
// os-threads
// A mutex and a timed wait on the bare futex call.
#define _GNU_SOURCE
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

static atomic_int word, bell;
static int inside;

static long futex(atomic_int *place, int op, int value, const struct timespec *time) {
    return syscall(SYS_futex, place, op, value, time, 0, FUTEX_BITSET_MATCH_ANY);
}

static void lock(void) {
    int free = 0;
    if (atomic_compare_exchange_strong(&word, &free, 1)) return;
    while (atomic_exchange(&word, 2) != 0) {
        if (futex(&word, FUTEX_WAIT_PRIVATE, 2, 0) == 0) reached("slept");
        else assert(errno == EAGAIN);
    }
}

static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2) futex(&word, FUTEX_WAKE_PRIVATE, 1, 0);
}

static void *work(void *unused) {
    for (int i = 0; i < 2; i++) {
        lock();
        assert(inside++ == 0);
        inside--;
        unlock();
    }
    atomic_store(&bell, 1);
    futex(&bell, FUTEX_WAKE_BITSET_PRIVATE, 1, 0);
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    struct timespec length = {5, 0}, until;
    if (futex(&bell, FUTEX_WAIT_PRIVATE, 0, &length) != 0 && errno == ETIMEDOUT) reached("timeout");
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 5;
    futex(&bell, FUTEX_WAIT_BITSET_PRIVATE, 0, &until);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
