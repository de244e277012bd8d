// expect: pass
// executions: 5
// strategies: random auto dfs
// flags: -O1
// Loops that only read a flag that nobody sets, but end: after so many tries, counted in a register, in memory or
// in a library; after a time, asked of the system or of the processor; when a random number says so.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>
static atomic_int never;
static int tries;
static volatile unsigned seen;
static void *in_register(void *unused) {
    for (long i = 0; i < 20000 && !atomic_load(&never); i++) {}
    return unused;
}
static void *in_memory(void *unused) {
    while (!atomic_load(&never) && tries < 20000) tries++;
    return unused;
}
static void *by_library(void *unused) {
    while (!atomic_load(&never) && rand() % 5000) sched_yield();
    return unused;
}
static void *by_clock(void *unused) {
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (!atomic_load(&never) && now.tv_sec < end.tv_sec + 1);
    return unused;
}
static void *by_processor(void *unused) {
    unsigned long long end = __rdtsc() + 20000000;
    while (!atomic_load(&never) && __rdtsc() < end) {}
    return unused;
}
int main(void) {
    void *(*work[5])(void *) = {in_register, in_memory, by_library, by_clock, by_processor};
    pthread_t thread;
    for (int i = 0; i < 5; i++) {
        pthread_create(&thread, 0, work[i], 0);
        pthread_join(thread, 0);
    }
    return (int)seen;
}
