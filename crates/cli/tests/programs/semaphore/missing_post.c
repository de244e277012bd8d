// expect: deadlock
// message: semaphore
#include <pthread.h>
#include <semaphore.h>

static sem_t sem;
static void *work(void *unused) {
    sem_wait(&sem);
    return unused;
}
int main(void) {
    pthread_t a, b;
    sem_init(&sem, 0, 1);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
