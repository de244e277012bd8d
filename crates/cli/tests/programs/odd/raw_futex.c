// expect: pass
// uncut
// reaches: slept
// System calls by inline assembly: a lock that sleeps in futex, a thread that yields, and a pipe.
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
static long call(long number, long a, long b, long c, long d) {
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}
static atomic_int word;
static int count, ends[2];
static void lock(void) {
    int free = 0;
    if (atomic_compare_exchange_strong(&word, &free, 1)) return;
    while (atomic_exchange(&word, 2) != 0) {
        long result = call(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 2, 0);
        assert(result == 0 || result == -EAGAIN || result == -EINTR);
        if (result == 0) reached("slept");
    }
}
static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2) call(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1, 0);
}
static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        lock();
        count++;
        unlock();
        call(SYS_sched_yield, 0, 0, 0, 0);
    }
    assert(call(SYS_write, ends[1], (long)"x", 1, 0) == 1);
    return unused;
}
int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a, b;
    char byte;
    assert(pipe(ends) == 0 && call(SYS_getpid, 0, 0, 0, 0) == getpid());
    errno = 77;
    assert(call(SYS_close, -1, 0, 0, 0) == -EBADF && errno == 77);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    assert(call(SYS_read, ends[0], (long)&byte, 1, 0) == 1 && byte == 'x');
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(count == 6);
    return 0;
}
