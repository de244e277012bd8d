// THREADS philosophers, one of whom takes the forks the other way round, eat once each.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t forks[THREADS];
static int meals[THREADS];

static void *dine(void *argument) {
    int seat = (int)((int *)argument - meals);
    int left = seat, right = (seat + 1) % THREADS;
    pthread_mutex_lock(&forks[left < right ? left : right]);
    pthread_mutex_lock(&forks[left < right ? right : left]);
    meals[seat]++;
    pthread_mutex_unlock(&forks[left]);
    pthread_mutex_unlock(&forks[right]);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_mutex_init(&forks[i], NULL);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, dine, &meals[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) assert(meals[i] == 1);
    return 0;
}
