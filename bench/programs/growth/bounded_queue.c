// PAIRS producers and as many consumers pass ITEMS items each through a queue of two places.
#include <assert.h>
#include <pthread.h>

#define ROOM 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int items[ROOM], first, count, produced, consumed;

static void *produce(void *argument) {
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (count == ROOM) pthread_cond_wait(&not_full, &lock);
        items[(first + count) % ROOM] = 1;
        count++;
        produced++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

static void *consume(void *argument) {
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0) pthread_cond_wait(&not_empty, &lock);
        consumed += items[first];
        first = (first + 1) % ROOM;
        count--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

int main(void) {
    pthread_t threads[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        pthread_create(&threads[2 * i], NULL, produce, NULL);
        pthread_create(&threads[2 * i + 1], NULL, consume, NULL);
    }
    for (int i = 0; i < 2 * PAIRS; i++) pthread_join(threads[i], NULL);
    assert(produced == PAIRS * ITEMS && consumed == produced && count == 0);
    return 0;
}
