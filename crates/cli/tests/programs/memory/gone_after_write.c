// expect: pass
// os-threads
// Memory may go away in every way just after it was written.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, BIG = 1 << 20 };
static volatile long *volatile place;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long others;

static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    others += place ? *place : 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void new_place(size_t bytes) {
    void *memory = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(memory != MAP_FAILED);
    pthread_mutex_lock(&lock);
    place = memory;
    pthread_mutex_unlock(&lock);
    pthread_t reader;
    pthread_create(&reader, 0, look, 0);
    pthread_join(reader, 0);
    pthread_mutex_lock(&lock);
    place = 0;
    pthread_mutex_unlock(&lock);
    *(volatile long *)memory = 1;
    place = memory;
}

/// A system call that nobody sees.
static long by_hand(long number, void *address, long bytes, long more) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(address), "S"(bytes), "d"(more) : "rcx", "r11", "memory");
    return result;
}

int main(void) {
    volatile long *mine;
    new_place(PAGE);
    mine = place, *mine = 2;
    munmap((void *)mine, PAGE);

    new_place(PAGE);
    mine = place, *mine = 3;
    mprotect((void *)mine, PAGE, PROT_NONE);

    new_place(PAGE);
    mine = place, *mine = 4;
    assert(mremap((void *)mine, PAGE, 4 * PAGE, MREMAP_MAYMOVE) != MAP_FAILED);

    new_place(PAGE);
    mine = place, *mine = 5;
    madvise((void *)mine, PAGE, MADV_DONTNEED);
    assert(*mine == 0);

    new_place(PAGE);
    mine = place, *mine = 6;
    syscall(SYS_munmap, mine, PAGE);

    new_place(PAGE);
    mine = place, *mine = 7;
    assert(by_hand(SYS_munmap, (void *)mine, PAGE, 0) == 0);

    new_place(PAGE);
    mine = place, *mine = 8;
    assert(by_hand(SYS_mprotect, (void *)mine, PAGE, PROT_NONE) == 0);

    char *end = sbrk(2 * PAGE);
    place = (long *)(end + PAGE);
    pthread_t reader;
    pthread_create(&reader, 0, look, 0);
    pthread_join(reader, 0);
    mine = place, *mine = 9;
    brk(end);

    mine = malloc(BIG);
    memset((void *)mine, 0, BIG);
    place = mine;
    pthread_create(&reader, 0, look, 0);
    pthread_join(reader, 0);
    *mine = 10;
    free((void *)mine);
    place = 0;
    return 0;
}
