// Vyukov's bounded queue for many producers and many consumers: THREADS threads, of which the last one dequeues what
// the others enqueue, an item each.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define ROOM 2

struct cell {
    atomic_size_t sequence;
    int item;
};

static struct cell cells[ROOM];
static atomic_size_t tail, head;

static int enqueue(int item) {
    size_t position = atomic_load(&tail);
    for (;;) {
        struct cell *cell = &cells[position % ROOM];
        long ahead = (long)(atomic_load(&cell->sequence) - position);
        if (ahead < 0) return 0;
        if (ahead > 0) {
            position = atomic_load(&tail);
        } else if (atomic_compare_exchange_strong(&tail, &position, position + 1)) {
            cell->item = item;
            atomic_store(&cell->sequence, position + 1);
            return 1;
        }
    }
}

static int dequeue(int *item) {
    size_t position = atomic_load(&head);
    for (;;) {
        struct cell *cell = &cells[position % ROOM];
        long ahead = (long)(atomic_load(&cell->sequence) - (position + 1));
        if (ahead < 0) return 0;
        if (ahead > 0) {
            position = atomic_load(&head);
        } else if (atomic_compare_exchange_strong(&head, &position, position + 1)) {
            *item = cell->item;
            atomic_store(&cell->sequence, position + ROOM);
            return 1;
        }
    }
}

static int sent[THREADS], received;

static void *produce(void *argument) {
    *(int *)argument = enqueue(1);
    return NULL;
}

static void *consume(void *argument) {
    int item;
    for (int i = 1; i < THREADS; i++)
        if (dequeue(&item)) received += item;
    return argument;
}

int main(void) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < ROOM; i++) atomic_store(&cells[i].sequence, i);
    for (int i = 0; i + 1 < THREADS; i++) pthread_create(&threads[i], NULL, produce, &sent[i]);
    pthread_create(&threads[THREADS - 1], NULL, consume, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    int item, all = 0;
    while (dequeue(&item)) received += item;
    for (int i = 0; i < THREADS; i++) all += sent[i];
    assert(received == all);
    return 0;
}
