/* Correct: a counting semaphore admits two threads at a time, a binary one guards the count of
 * those inside. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#define THREADS 3
#define PLACES 2

static sem_t places;
static sem_t guard;
static int inside;

static void *guest(void *arg)
{
    (void)arg;
    sem_wait(&places);
    sem_wait(&guard);
    inside = inside + 1;
    assert(inside <= PLACES);
    sem_post(&guard);
    sem_wait(&guard);
    inside = inside - 1;
    sem_post(&guard);
    sem_post(&places);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    sem_init(&places, 0, PLACES);
    sem_init(&guard, 0, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, guest, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(inside == 0);
    sem_destroy(&places);
    sem_destroy(&guard);
    return 0;
}
