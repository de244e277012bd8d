// expect: deadlock
// message: waits for
// executions: 500
// os-threads
#include <pthread.h>
static pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static void *dine(void *seat) {
    long n = (long)seat;
    pthread_mutex_lock(&forks[n]);
    pthread_mutex_lock(&forks[(n + 1) % 3]);
    pthread_mutex_unlock(&forks[(n + 1) % 3]);
    pthread_mutex_unlock(&forks[n]);
    return 0;
}
int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, dine, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
