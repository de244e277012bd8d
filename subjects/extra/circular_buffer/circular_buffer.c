/* Sender and receiver take turns through two flags. A turn that comes too early is skipped, not
 * repeated, so the receiver's loop counter runs ahead of the items it expects.
 *
 * usage: circular_buffer [rounds] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define SLOTS 10

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int buffer[SLOTS];
static int first, next;
static int sending = 1, receiving;
static int rounds = 7;

static void insert(int value)
{
    buffer[next] = value;
    next = (next + 1) % SLOTS;
}

static int take(void)
{
    int value = buffer[first];
    first = (first + 1) % SLOTS;
    return value;
}

static void *sender(void *arg)
{
    (void)arg;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        if (sending) {
            insert(i);
            sending = 0;
            receiving = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *receiver(void *arg)
{
    (void)arg;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        if (receiving) {
            assert(take() == i);
            receiving = 0;
            sending = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t a, b;

    if (argc > 1)
        rounds = atoi(argv[1]);
    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, receiver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
