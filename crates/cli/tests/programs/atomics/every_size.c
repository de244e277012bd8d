// expect: pass
// flags: -mcx16 -latomic
// os-threads
// Atomics of every size and operation stay atomic; fences are accepted.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static _Atomic uint8_t a8;
static _Atomic uint16_t a16;
static _Atomic uint32_t a32;
static _Atomic uint64_t a64;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static int inside;

#define EACH(a)                                                                                    \
    do {                                                                                           \
        atomic_fetch_add(&a, 3);                                                                   \
        atomic_fetch_sub_explicit(&a, 1, memory_order_relaxed);                                    \
        atomic_fetch_or(&a, 0);                                                                    \
        atomic_fetch_xor(&a, 0);                                                                   \
        atomic_fetch_and(&a, (__typeof__(atomic_load(&a))) - 1);                                   \
        __typeof__(atomic_load(&a)) old = atomic_load_explicit(&a, memory_order_acquire);          \
        while (!atomic_compare_exchange_weak(&a, &old, old + 1)) {}                                \
    } while (0)

static void *work(void *unused) {
    EACH(a8);
    EACH(a16);
    EACH(a32);
    EACH(a64);
    while (atomic_flag_test_and_set(&flag)) {}
    assert(inside++ == 0);
    inside--;
    atomic_flag_clear(&flag);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acq_rel);
    __sync_synchronize();
    __sync_fetch_and_add(&a32, 0);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(a8 == 6 && a16 == 6 && a32 == 6 && a64 == 6);
    assert(atomic_exchange(&a64, 9) == 6 && a64 == 9);
    return 0;
}
