/* Setters write a and then b; checkers expect to see both writes or neither. Only a check that
 * falls between the very first write of a and the very first write of b goes wrong, so every
 * further setter makes the bug harder to meet.
 *
 * usage: reorder [setters] [checkers] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define MAX_THREADS 256

static int a, b;

static void *setter(void *arg)
{
    (void)arg;
    a = 1;
    b = -1;
    return NULL;
}

static void *checker(void *arg)
{
    (void)arg;
    assert((a == 0 && b == 0) || (a == 1 && b == -1));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    int setters = argc > 1 ? atoi(argv[1]) : 2;
    int checkers = argc > 2 ? atoi(argv[2]) : 2;
    int count = setters + checkers;

    if (setters < 1 || checkers < 1 || count > MAX_THREADS)
        return 2;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, i < setters ? setter : checker, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
