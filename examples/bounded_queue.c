/* A correct program: a bounded queue between two producers and a consumer. Every wait stands in a
 * loop that checks its condition under the lock, and each condition has a variable of its own.
 * The hunt finds nothing, which is what a correct program should get.
 *
 *     threadbare hunt examples/bounded_queue.c
 */
#include <assert.h>
#include <pthread.h>

#define SLOTS 2
#define PRODUCERS 2
#define ITEMS 2 /* per producer */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int slots[SLOTS];
static int used, first;

static void put(int item)
{
    pthread_mutex_lock(&lock);
    while (used == SLOTS)
        pthread_cond_wait(&not_full, &lock);
    slots[(first + used) % SLOTS] = item;
    used++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static int take(void)
{
    pthread_mutex_lock(&lock);
    while (used == 0)
        pthread_cond_wait(&not_empty, &lock);
    int item = slots[first];
    first = (first + 1) % SLOTS;
    used--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *producer(void *unused)
{
    (void)unused;
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return NULL;
}

int main(void)
{
    pthread_t producers[PRODUCERS];
    int sum = 0;

    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, producer, NULL);
    for (int i = 0; i < PRODUCERS * ITEMS; i++)
        sum += take();
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);

    assert(sum == PRODUCERS * ITEMS * (ITEMS + 1) / 2);
    return 0;
}
