/* Correct: one counter raised by fetch-and-add, another by a compare-and-swap loop. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 3
#define ROUNDS 2

static atomic_int added;
static atomic_int swapped;

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&added, 1);
        int seen = atomic_load(&swapped);
        while (!atomic_compare_exchange_weak(&swapped, &seen, seen + 1))
            continue;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(added == THREADS * ROUNDS);
    assert(swapped == THREADS * ROUNDS);
    return 0;
}
