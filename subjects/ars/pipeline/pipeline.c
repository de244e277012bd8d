/* Six stages and a listener, joined by one-slot queues in which a new value replaces the old.
 * Zero tells a stage to stop, but the first piece of data is zero as well: a stage that picks it
 * up leaves before anybody asked it to. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define STAGES 6
#define EMPTY (-1)

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int value;
};

static struct queue queues[STAGES + 1];
static int stop_called;

static int take(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->value < 0)
        pthread_cond_wait(&q->filled, &q->lock);
    int value = q->value;
    q->value = EMPTY;
    pthread_mutex_unlock(&q->lock);
    return value;
}

static void add(struct queue *q, int value)
{
    pthread_mutex_lock(&q->lock);
    q->value = value;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

static void *stage(void *arg)
{
    int k = (int)(intptr_t)arg;
    for (;;) {
        int value = take(&queues[k]);
        if (value == 0)
            break;
        add(&queues[k + 1], value + 1);
    }
    add(&queues[k + 1], 0);
    assert(stop_called);
    return NULL;
}

static void *listener(void *arg)
{
    (void)arg;
    while (take(&queues[STAGES]) != 0)
        continue;
    return NULL;
}

int main(void)
{
    pthread_t threads[STAGES + 1];

    for (int k = 0; k <= STAGES; k++) {
        pthread_mutex_init(&queues[k].lock, NULL);
        pthread_cond_init(&queues[k].filled, NULL);
        queues[k].value = EMPTY;
    }
    for (int k = 0; k < STAGES; k++)
        pthread_create(&threads[k], NULL, stage, (void *)(intptr_t)k);
    pthread_create(&threads[STAGES], NULL, listener, NULL);
    add(&queues[0], 0);
    add(&queues[0], 1);
    stop_called = 1;
    add(&queues[0], 0);
    for (int k = 0; k <= STAGES; k++)
        pthread_join(threads[k], NULL);
    return 0;
}
