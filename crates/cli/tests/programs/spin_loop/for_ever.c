// expect: hang
// message: only spins, for ever
// executions: 5
// strategies: all
// Two threads wait for each other in loops that change nothing; one reads a flag that nobody else ever touches.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int a, b;
static volatile int never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *unused) {
    while (!atomic_load(&a)) sched_yield();
    atomic_store(&b, 1);
    return unused;
}
static void *second(void *unused) {
    while (!atomic_load(&b)) usleep(10);
    atomic_store(&a, 1);
    return unused;
}
static void *third(void *unused) {
    while (!never) {}
    return unused;
}
static void *fourth(void *unused) {
    while (pthread_mutex_trylock(&lock)) {}
    return unused;
}
int main(void) {
    void *(*work[4])(void *) = {first, second, third, fourth};
    pthread_t threads[4];
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work[i], 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
