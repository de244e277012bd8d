/* Lamport's bakery lock for two threads with two flaws: equal tickets are not told apart by the
 * thread's number, and the waiting loops give up after a bounded number of turns.
 *
 * usage: bakery [bound] */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS 2

static int enter[THREADS];
static int number[THREADS];
static int x;
static int bound = 1;

static int takes_precedence(int j, int i)
{
    if (number[j] == 0)
        return 0;
    int theirs = number[j];
    int mine = number[i];
    return theirs < mine;
}

static void *customer(void *arg)
{
    int i = (int)(intptr_t)arg;
    int max = 0, waited_enter = 0, waited_number = 0;

    enter[i] = 1;
    for (int j = 0; j < THREADS; j++)
        if (number[j] > max)
            max = number[j];
    number[i] = 1 + max;
    enter[i] = 0;
    for (int j = 0; j < THREADS; j++) {
        while (enter[j] == 1)
            if (waited_enter++ > bound)
                break;
        while (takes_precedence(j, i))
            if (waited_number++ > bound)
                break;
    }

    x = i + 1;
    assert(x == i + 1);

    number[i] = 0;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    if (argc > 1)
        bound = atoi(argv[1]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, customer, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
