// expect: pass
// executions: 40
// strategies: all
// Polling with trylock, sem_trywait, tryjoin, timed locks and short sleeps.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t sem;
static int inside, done;
static void *work(void *unused) {
    while (pthread_mutex_trylock(&lock)) {}
    assert(inside++ == 0);
    inside--;
    pthread_mutex_unlock(&lock);
    sem_post(&sem);
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) usleep(10);
    return unused;
}
int main(void) {
    pthread_t a;
    sem_init(&sem, 0, 0);
    pthread_create(&a, 0, work, 0);
    struct timespec until = {0, 1000};
    while (pthread_mutex_timedlock(&lock, &until)) {}
    assert(inside++ == 0);
    inside--;
    pthread_mutex_unlock(&lock);
    while (sem_trywait(&sem)) {}
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    while (pthread_tryjoin_np(a, 0)) {}
    return 0;
}
