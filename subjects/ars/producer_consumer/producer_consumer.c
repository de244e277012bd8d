/* Three producers, four consumers, one bounded buffer. The consumers count what they take under
 * a lock of their own instead of a common one, and the first producer to finish halts the buffer
 * while the others still produce. Main waits for the consumers only.
 *
 * usage: producer_consumer [producers] [consumers] [items per producer] */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_THREADS 32
#define SLOTS 5
#define MAX_TAKEN 10

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int used;
static int halted;
static pthread_mutex_t own[MAX_THREADS];
static int total;
static int items = 8;

static void put(void)
{
    pthread_mutex_lock(&lock);
    while (used == SLOTS)
        pthread_cond_wait(&changed, &lock);
    if (used == 0)
        pthread_cond_broadcast(&changed);
    used = used + 1;
    pthread_mutex_unlock(&lock);
}

static void halt(void)
{
    pthread_mutex_lock(&lock);
    halted = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int get(void)
{
    pthread_mutex_lock(&lock);
    /* Both operands are read every time, as in the original's non-short-circuit "and". */
    for (;;) {
        int empty = used == 0;
        int running = !halted;
        if (!(empty & running))
            break;
        pthread_cond_wait(&changed, &lock);
    }
    if (used == 0) {
        pthread_mutex_unlock(&lock);
        return 0;
    }
    if (used == SLOTS)
        pthread_cond_broadcast(&changed);
    used = used - 1;
    pthread_mutex_unlock(&lock);
    return 1;
}

static void *producer(void *arg)
{
    (void)arg;
    for (int i = 0; i < items; i++)
        put();
    halt();
    return NULL;
}

static void *consumer(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int taken = 0; taken < MAX_TAKEN && get(); taken++) {
        pthread_mutex_lock(&own[me]);
        total = total + 1;
        pthread_mutex_unlock(&own[me]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t producer_thread, consumers[MAX_THREADS];
    int producing = argc > 1 ? atoi(argv[1]) : 3;
    int consuming = argc > 2 ? atoi(argv[2]) : 4;

    if (argc > 3)
        items = atoi(argv[3]);
    if (producing < 1 || consuming < 1 || consuming > MAX_THREADS || items < 1)
        return 2;
    int expected = producing * items;
    for (int i = 0; i < consuming; i++)
        pthread_mutex_init(&own[i], NULL);
    for (int i = 0; i < producing; i++)
        pthread_create(&producer_thread, NULL, producer, NULL);
    for (int i = 0; i < consuming; i++)
        pthread_create(&consumers[i], NULL, consumer, (void *)(intptr_t)i);
    for (int i = 0; i < consuming; i++)
        pthread_join(consumers[i], NULL);
    assert(total == expected);
    return 0;
}
