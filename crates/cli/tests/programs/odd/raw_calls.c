// expect: pass
// reaches: read-first
// System calls by number: sleeping, clocks, pipes and yielding are under control too.
#define _GNU_SOURCE
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
static int ends[2];
static void *work(void *unused) {
    struct timespec length = {1000, 0}, before, after;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &before);
    assert(syscall(SYS_nanosleep, &length, 0) == 0);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &after);
    assert(after.tv_sec >= before.tv_sec + 1000);
    syscall(SYS_sched_yield);
    assert(syscall(SYS_write, ends[1], "x", 1) == 1);
    return unused;
}
int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a;
    char byte;
    assert(pipe(ends) == 0);
    pthread_create(&a, 0, work, 0);
    assert(syscall(SYS_read, ends[0], &byte, 1) == 1 && byte == 'x');
    reached("read-first");
    assert(syscall(SYS_gettid) == getpid());
    pthread_join(a, 0);
    return 0;
}
