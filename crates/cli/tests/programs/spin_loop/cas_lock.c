// expect: pass
// executions: 40
// strategies: all
// A lock by compare-and-swap, by exchange, and a ticket lock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int cas, exchange, next, serving;
static int inside[3];
static void *work(void *unused) {
    int zero = 0;
    while (!atomic_compare_exchange_weak(&cas, &zero, 1)) zero = 0;
    assert(inside[0]++ == 0);
    inside[0]--;
    atomic_store(&cas, 0);
    while (atomic_exchange(&exchange, 1)) {}
    assert(inside[1]++ == 0);
    inside[1]--;
    atomic_store(&exchange, 0);
    int mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine) {}
    assert(inside[2]++ == 0);
    inside[2]--;
    atomic_fetch_add(&serving, 1);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    work(0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
