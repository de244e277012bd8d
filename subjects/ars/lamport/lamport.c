/* Lamport's fast mutual exclusion for two threads with bounded waiting and the two slips of the
 * original: both threads write 1 into y, and both wait on the second thread's flag.
 *
 * usage: lamport [bound] */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static int flag[3];
static int x, y;
static int shared;
static int bound = 1;

static void enter(int me)
{
    int tries = 0, waited_y = 0, waited_flag = 0, waited_last = 0;

    for (;;) {
        if (tries++ > bound)
            return;
        flag[me] = 1;
        x = me;
        if (y != 0) {
            flag[me] = 0;
            while (y != 0)
                if (waited_y++ > bound)
                    break;
            continue;
        }
        y = 1;
        if (x != me) {
            flag[me] = 0;
            while (flag[2] >= 1)
                if (waited_flag++ > bound)
                    break;
            if (y != me) {
                while (y != 0)
                    if (waited_last++ > bound)
                        break;
                continue;
            }
        }
        return;
    }
}

static void *contender(void *arg)
{
    int me = (int)(intptr_t)arg;

    enter(me);
    shared = me;
    assert(shared == me);
    y = 0;
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
