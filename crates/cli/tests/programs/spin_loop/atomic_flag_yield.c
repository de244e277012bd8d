// expect: pass
// executions: 40
// strategies: all
// os-threads
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static atomic_int flag, turn;
static void *work(void *unused) {
    while (!atomic_load(&flag)) sched_yield();
    for (int i = 0; i < 3; i++) {
        while (atomic_load(&turn) != 1) {}
        atomic_store(&turn, 0);
    }
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    atomic_store(&flag, 1);
    for (int i = 0; i < 3; i++) {
        atomic_store(&turn, 1);
        while (atomic_load(&turn) != 0) sched_yield();
    }
    pthread_join(a, 0);
    return 0;
}
