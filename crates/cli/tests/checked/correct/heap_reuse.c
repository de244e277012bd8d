// Blocks are private while they live, wherever they lie; the last one out frees a shared one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shared {
    atomic_int users;
    int value;
};

static void *work(void *arg) {
    struct shared *shared = arg;
    for (int i = 0; i < 3; i++) {
        int *mine = malloc(sizeof *mine);
        *mine = i;
        *mine = *mine + shared->value;
        assert(*mine == i + 3);
        free(mine);
    }
    if (atomic_fetch_sub_explicit(&shared->users, 1, memory_order_acq_rel) == 1) free(shared);
    return 0;
}

int main(void) {
    struct shared *shared = malloc(sizeof *shared);
    atomic_init(&shared->users, 2);
    shared->value = 3;
    pthread_t a, b;
    pthread_create(&a, 0, work, shared);
    pthread_create(&b, 0, work, shared);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
