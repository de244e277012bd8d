/* Sender and receiver share a queue and a record of what was sent. The receiver compares against
 * the record by its own loop counter, which runs ahead whenever it finds nothing to take. */
#include <assert.h>
#include <pthread.h>

#define SIZE 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slots[SIZE];
static int head, tail;
static int sent[SIZE];
static int may_enqueue, may_dequeue;

static void enqueue(int value)
{
    slots[tail] = value;
    tail = (tail + 1) % SIZE;
}

static int dequeue(void)
{
    int value = slots[head];
    head = (head + 1) % SIZE;
    return value;
}

static void *sender(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    enqueue(1);
    sent[0] = 1;
    may_dequeue = 1;
    pthread_mutex_unlock(&lock);
    for (int i = 1; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        if (may_enqueue) {
            enqueue(i + 1);
            sent[i] = i + 1;
            may_enqueue = 0;
            may_dequeue = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *receiver(void *arg)
{
    (void)arg;
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        if (may_dequeue) {
            int value = dequeue();
            assert(value == sent[i]);
            may_dequeue = 0;
            may_enqueue = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, receiver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
