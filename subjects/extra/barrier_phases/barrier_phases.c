/* Correct: in each phase every thread writes its own cell, and after the barrier reads its
 * neighbour's. A second barrier keeps the next phase's writes away from the reads. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define THREADS 3
#define PHASES 2

static pthread_barrier_t barrier;
static int cells[THREADS];

static void *worker(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int phase = 1; phase <= PHASES; phase++) {
        cells[me] = phase;
        pthread_barrier_wait(&barrier);
        assert(cells[(me + 1) % THREADS] == phase);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    return 0;
}
