// expect: assertion
// Atomic accesses without atomicity in between.
#include <assert.h>
#include <stdatomic.h>
#include <threads.h>

static atomic_int n;
static int add(void *unused) {
    int seen = atomic_load(&n);
    atomic_store(&n, seen + 1);
    return 0;
}
int main(void) {
    thrd_t a, b;
    thrd_create(&a, add, 0);
    thrd_create(&b, add, 0);
    thrd_join(a, 0);
    thrd_join(b, 0);
    assert(atomic_load(&n) == 2);
    return 0;
}
