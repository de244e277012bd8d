/* Correct: whichever thread comes first sets the shared value up, exactly once, and all see it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS 3

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int *config;
static int calls;

static void set_up(void)
{
    calls = calls + 1;
    config = malloc(sizeof *config);
    *config = 42;
}

static void *user(void *arg)
{
    (void)arg;
    pthread_once(&once, set_up);
    assert(*config == 42);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, user, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(calls == 1);
    free(config);
    return 0;
}
