/* Each thread raises a counter twice and expects it to be even then. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define MAX_THREADS 64

static int counter;

static void *raiser(void *arg)
{
    (void)arg;
    counter = counter + 1;
    counter = counter + 1;
    int seen = counter;
    assert(seen % 2 == 0);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    int count = argc > 1 ? atoi(argv[1]) : 4;

    if (count < 1 || count > MAX_THREADS)
        return 2;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, raiser, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
