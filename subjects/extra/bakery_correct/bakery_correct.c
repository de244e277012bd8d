/* Correct: Lamport's bakery lock with sequentially consistent variables, unbounded waiting, and
 * equal tickets told apart by the thread's number. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define THREADS 3

static atomic_int entering[THREADS];
static atomic_int number[THREADS];
static int x;

static int takes_precedence(int j, int i)
{
    int theirs = number[j];
    int mine = number[i];
    return theirs != 0 && (theirs < mine || (theirs == mine && j < i));
}

static void *customer(void *arg)
{
    int i = (int)(intptr_t)arg;
    int max = 0;

    entering[i] = 1;
    for (int j = 0; j < THREADS; j++) {
        int ticket = number[j];
        if (ticket > max)
            max = ticket;
    }
    number[i] = 1 + max;
    entering[i] = 0;
    for (int j = 0; j < THREADS; j++) {
        while (entering[j])
            continue;
        while (takes_precedence(j, i))
            continue;
    }

    x = i + 1;
    assert(x == i + 1);

    number[i] = 0;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, customer, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
