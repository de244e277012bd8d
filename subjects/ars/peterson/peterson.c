/* Peterson's mutual exclusion, broken only by its bound: the waiting loop gives up after a few
 * turns.
 *
 * usage: peterson [bound] */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static int flag[3];
static int turn;
static int x;
static int bound = 1;

static void *contender(void *arg)
{
    int me = (int)(intptr_t)arg;
    int other = 3 - me;
    int waited = 0;

    flag[me] = 1;
    turn = other;
    while (flag[other] == 1 && turn == other)
        if (waited++ > bound)
            break;

    x = me;
    assert(x == me);

    flag[me] = 0;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t a, b;

    if (argc > 1)
        bound = atoi(argv[1]);
    pthread_create(&a, NULL, contender, (void *)(intptr_t)1);
    pthread_create(&b, NULL, contender, (void *)(intptr_t)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
