// THREADS threads take a lock ROUNDS times each, and draw from a balance while there is enough.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100, operations;

static void *draw(void *argument) {
    int amount = (int)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        if (balance > 10) balance -= amount;
        operations++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, draw, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert(operations == THREADS * ROUNDS);
    return 0;
}
