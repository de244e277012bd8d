/* Two tasks of a spacecraft executive wake each other through counted events. A task compares the
 * counter first and waits afterwards, without looking again under the lock: an event that arrives
 * in between is missed and both tasks wait for ever. */
#include <pthread.h>

#define ROUNDS 3

struct event {
    pthread_mutex_t lock;
    pthread_cond_t raised;
    int count;
};

static struct event first = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static struct event second = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void raise_event(struct event *e)
{
    pthread_mutex_lock(&e->lock);
    e->count = e->count + 1;
    pthread_cond_broadcast(&e->raised);
    pthread_mutex_unlock(&e->lock);
}

static void wait_for_event(struct event *e)
{
    pthread_mutex_lock(&e->lock);
    pthread_cond_wait(&e->raised, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

static void *planner(void *arg)
{
    (void)arg;
    int count = first.count;
    for (int i = 0; i < ROUNDS; i++) {
        if (count == first.count)
            wait_for_event(&first);
        count = first.count;
        raise_event(&second);
    }
    return NULL;
}

static void *executive(void *arg)
{
    (void)arg;
    int count = second.count;
    for (int i = 0; i < ROUNDS; i++) {
        raise_event(&first);
        if (count == second.count)
            wait_for_event(&second);
        count = second.count;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, planner, NULL);
    pthread_create(&b, NULL, executive, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
