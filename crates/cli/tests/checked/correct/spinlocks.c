// A lock of one flag and a lock of two tickets.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;
static atomic_uint next_ticket, serving;
static int by_flag, by_ticket;

static void *work(void *unused) {
    for (int i = 0; i < 2; i++) {
        while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire)) {}
        by_flag++;
        atomic_flag_clear_explicit(&taken, memory_order_release);

        unsigned ticket = atomic_fetch_add(&next_ticket, 1);
        while (atomic_load(&serving) != ticket) {}
        by_ticket++;
        atomic_store(&serving, ticket + 1);
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(by_flag == 4 && by_ticket == 4);
    return 0;
}
