/* Threads replace a shared pair by one that counts one more. The pair is immutable, so it is kept
 * in one word and replaced as a whole; but nothing makes reading the old pair and publishing the
 * new one a single step, and counts get lost.
 *
 * usage: wrong_lock2 [threads] */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_THREADS 64

typedef uint64_t pair;

#define PAIR(number, count) ((pair)(number) << 32 | (pair)(count))
#define NUMBER(p) ((uint32_t)((p) >> 32))
#define COUNT(p) ((uint32_t)(p))

static pair shared = PAIR(1, 0);

static void *worker(void *arg)
{
    (void)arg;
    pair p = shared;
    pair q = shared;
    shared = PAIR(NUMBER(p) * 2, COUNT(q) + 1);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    int count = argc > 1 ? atoi(argv[1]) : 2;

    if (count < 1 || count > MAX_THREADS)
        return 2;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    assert(COUNT(shared) == (uint32_t)count);
    return 0;
}
