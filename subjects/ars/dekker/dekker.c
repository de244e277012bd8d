/* Dekker's mutual exclusion, broken only by its bound: the waiting loops give up after a few
 * turns, and the thread then walks into the critical section.
 *
 * usage: dekker [bound] */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static int flag[3];
static int turn = 1;
static int x;
static int bound = 1;

static void *contender(void *arg)
{
    int me = (int)(intptr_t)arg;
    int other = 3 - me;
    int waited_turn = 0, waited_flag = 0;

    flag[me] = 1;
    while (flag[other] == 1) {
        if (waited_flag++ > bound)
            break;
        if (turn != me) {
            flag[me] = 0;
            while (turn != me)
                if (waited_turn++ > bound)
                    break;
            flag[me] = 1;
        }
    }

    x = me;
    assert(x == me);

    turn = other;
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
