/* Correct: Dekker's mutual exclusion with sequentially consistent variables and unbounded
 * waiting. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define ROUNDS 2

static atomic_int flag[3];
static atomic_int turn = 1;
static int x;

static void *contender(void *arg)
{
    int me = (int)(intptr_t)arg;
    int other = 3 - me;

    for (int round = 0; round < ROUNDS; round++) {
        flag[me] = 1;
        while (flag[other] == 1) {
            if (turn != me) {
                flag[me] = 0;
                while (turn != me)
                    continue;
                flag[me] = 1;
            }
        }

        x = me;
        assert(x == me);

        turn = other;
        flag[me] = 0;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, contender, (void *)(intptr_t)1);
    pthread_create(&b, NULL, contender, (void *)(intptr_t)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
