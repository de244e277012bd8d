/* A pusher says once that the stack is in use; the popper takes that for "not empty" on every
 * later round and pops more than there is. */
#include <assert.h>
#include <pthread.h>

#define SIZE 5
#define UNDERFLOW (-1)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items[SIZE];
static int top;
static int started;

static int pop(void)
{
    if (top == 0)
        return UNDERFLOW;
    top = top - 1;
    return items[top];
}

static void *pusher(void *arg)
{
    (void)arg;
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        items[top] = i;
        top = top + 1;
        started = 1;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *popper(void *arg)
{
    (void)arg;
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        if (started)
            assert(pop() != UNDERFLOW);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, pusher, NULL);
    pthread_create(&b, NULL, popper, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
