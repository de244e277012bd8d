// expect: assertion
// flags: -mcx16 -latomic
// A 128-bit read-modify-write made of two atomic steps loses updates.
#include <assert.h>
#include <pthread.h>

static unsigned __int128 both;

static void *work(void *unused) {
    unsigned __int128 old = __atomic_load_n(&both, __ATOMIC_SEQ_CST);
    __atomic_store_n(&both, old + 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(__atomic_load_n(&both, __ATOMIC_SEQ_CST) == 2);
    return 0;
}
