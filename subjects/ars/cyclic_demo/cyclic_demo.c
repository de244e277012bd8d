/* Four threads count themselves under a lock; main joins three of them and expects four. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define THREADS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int leader;

static void *member(void *arg)
{
    int id = (int)(intptr_t)arg;
    pthread_mutex_lock(&lock);
    count = count + 1;
    pthread_mutex_unlock(&lock);
    leader = id;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, member, (void *)(intptr_t)i);
    /* Thread 0 is forgotten: that is the bug. */
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&lock);
    assert(count == THREADS);
    pthread_mutex_unlock(&lock);
    return 0;
}
