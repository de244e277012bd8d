/* A writer sets two values in two critical sections of different locks. A reader that fits
 * entirely between them sees the first value without the second.
 *
 * usage: two_stage [writers] [readers] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define MAX_THREADS 256

static pthread_mutex_t lock1 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock2 = PTHREAD_MUTEX_INITIALIZER;
static int data1, data2;

static void *writer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock1);
    data1 = 1;
    pthread_mutex_unlock(&lock1);
    pthread_mutex_lock(&lock2);
    data2 = data1 + 1;
    pthread_mutex_unlock(&lock2);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock1);
    if (data1 == 0) {
        pthread_mutex_unlock(&lock1);
        return NULL;
    }
    int first = data1;
    pthread_mutex_unlock(&lock1);
    pthread_mutex_lock(&lock2);
    int second = data2;
    pthread_mutex_unlock(&lock2);
    assert(second == first + 1);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    int writers = argc > 1 ? atoi(argv[1]) : 1;
    int readers = argc > 2 ? atoi(argv[2]) : 1;
    int count = writers + readers;

    if (writers < 1 || readers < 1 || count > MAX_THREADS)
        return 2;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, i < writers ? writer : reader, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
