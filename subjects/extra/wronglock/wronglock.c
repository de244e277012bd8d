/* One thread guards a value with one lock, the others with a different one.
 *
 * usage: wronglock [threads with the other lock] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define MAX_OTHERS 64

static pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t this_lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *guarded(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&data_lock);
    int before = value;
    value = value + 1;
    assert(value == before + 1);
    pthread_mutex_unlock(&data_lock);
    return NULL;
}

static void *misguarded(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&this_lock);
    value = value + 1;
    pthread_mutex_unlock(&this_lock);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_OTHERS + 1];
    int others = argc > 1 ? atoi(argv[1]) : 7;

    if (others < 1 || others > MAX_OTHERS)
        return 2;
    for (int i = 0; i <= others; i++)
        pthread_create(&threads[i], NULL, i == 0 ? guarded : misguarded, NULL);
    for (int i = 0; i <= others; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
