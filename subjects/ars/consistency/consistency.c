/* Three threads each store their number into two variables that are meant to stay equal. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define THREADS 3

static int a, b;

static void *setter(void *arg)
{
    int i = (int)(intptr_t)arg;
    a = i;
    b = i;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, setter, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(a == b);
    return 0;
}
