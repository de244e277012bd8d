/* Threads that each do operations of a kind drawn from a seed: read or write a shared word, add to an
 * atomic counter, or update a word behind one of the locks. No failure, no deadlock. An operation takes two
 * to four steps.
 *
 * usage: mixed [threads] [operations per thread] [seed] */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_THREADS 64
#define WORDS 64
#define LOCKS 8

static int words[WORDS];
static atomic_int counters[LOCKS];
static int guarded[LOCKS];
static pthread_mutex_t locks[LOCKS];
static long operations = 20;
static uint32_t seed = 1;

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void *work(void *arg)
{
    uint32_t state = seed * 7919u + (uint32_t)(uintptr_t)arg;
    for (long i = 0; i < operations; i++) {
        uint32_t kind = draw(&state) % 3, which = draw(&state);
        if (kind == 0) {
            words[which % WORDS] = words[(which / WORDS) % WORDS] + 1;
        } else if (kind == 1) {
            atomic_fetch_add(&counters[which % LOCKS], 1);
            atomic_fetch_add(&counters[(which / LOCKS) % LOCKS], 1);
        } else {
            int lock = which % LOCKS;
            pthread_mutex_lock(&locks[lock]);
            guarded[lock] = guarded[lock] + 1;
            pthread_mutex_unlock(&locks[lock]);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    int count = argc > 1 ? atoi(argv[1]) : 4;

    if (argc > 2)
        operations = atol(argv[2]);
    if (argc > 3)
        seed = (uint32_t)atol(argv[3]);
    if (count < 1 || count > MAX_THREADS)
        return 2;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
