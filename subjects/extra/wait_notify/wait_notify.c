/* Correct: a two-slot buffer, two producers and two consumers, one operation each. Waking a
 * single waiter is enough, for both items fit: no producer ever waits, only consumers do. */
#include <assert.h>
#include <pthread.h>

#define SLOTS 2
#define PAIRS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int used;

static void *producer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (used == SLOTS)
        pthread_cond_wait(&changed, &lock);
    used = used + 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (used == 0)
        pthread_cond_wait(&changed, &lock);
    used = used - 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2 * PAIRS];

    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_create(&threads[i], NULL, i < PAIRS ? producer : consumer, NULL);
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(threads[i], NULL);
    assert(used == 0);
    return 0;
}
