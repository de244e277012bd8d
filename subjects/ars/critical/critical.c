/* Two threads pass a turn to and fro with a plain variable. The first takes the turn and checks
 * that it still has it; the second may take it in between. The second thread's spin is bounded,
 * for nobody hands the turn back once the first thread has stopped. */
#include <assert.h>
#include <pthread.h>

#define SPINS 2000

static int turn;

static void *first(void *arg)
{
    (void)arg;
    turn = 0;
    assert(turn == 0);
    turn = 1;
    return NULL;
}

static void *second(void *arg)
{
    (void)arg;
    turn = 1;
    for (int spins = 0; turn != 1; spins++)
        if (spins == SPINS)
            break;
    turn = 0;
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
