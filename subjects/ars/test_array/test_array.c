/* One thread fills an array; the other reads it and expects all cells to be old or all new. A
 * reconstruction: the original program of this name is not public.
 *
 * usage: test_array [cells] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define MAX_CELLS 64

static int cells[MAX_CELLS];
static int count = 2;

static void *filler(void *arg)
{
    (void)arg;
    for (int i = 0; i < count; i++)
        cells[i] = 1;
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += cells[i];
    assert(sum == 0 || sum == count);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t a, b;

    if (argc > 1)
        count = atoi(argv[1]);
    if (count < 1 || count > MAX_CELLS)
        return 2;
    pthread_create(&a, NULL, filler, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
