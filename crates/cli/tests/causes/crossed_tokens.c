// Two tokens are taken in opposite orders.
// cause: left|right 11 12 20 21
#include <pthread.h>
#include <semaphore.h>

static sem_t left, right;

static void *worker(void *unused)
{
    (void)unused;
    sem_wait(&left);
    sem_wait(&right);
    sem_post(&right);
    sem_post(&left);
    return 0;
}
static void work(void)
{
    /* The other way round. */
    sem_wait(&right);
    sem_wait(&left);
    sem_post(&left);
    sem_post(&right);
}
int main(void)
{
    pthread_t thread;
    sem_init(&left, 0, 1);
    sem_init(&right, 0, 1);
    pthread_create(&thread, 0, worker, 0);
    work();
    pthread_join(thread, 0);
    return 0;
}
