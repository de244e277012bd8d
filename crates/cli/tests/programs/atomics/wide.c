// expect: pass
// flags: -mcx16 -latomic
// 128-bit atomics, as gcc calls them from its library.
#include <assert.h>
#include <pthread.h>

typedef unsigned __int128 wide;
static _Atomic wide both;

static void *work(void *unused) {
    wide one = ((wide)1 << 64) | 1;
    wide old = __atomic_load_n(&both, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&both, &old, old + one, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    wide end = __atomic_load_n(&both, __ATOMIC_SEQ_CST);
    assert((unsigned long)end == 2 && (unsigned long)(end >> 64) == 2);
    return 0;
}
