/* A device driver that is stopped while a request arrives. The request tests the stopping flag
 * and counts itself in afterwards; the stopper may find nobody inside and stop the driver between
 * the two. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pending = 1;
static int stopping;
static int stopping_event;
static int stopped;

static int enter(void)
{
    if (stopping)
        return -1;
    pthread_mutex_lock(&lock);
    pending = pending + 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void leave(void)
{
    pthread_mutex_lock(&lock);
    int left = pending - 1;
    pending = left;
    pthread_mutex_unlock(&lock);
    if (left == 0)
        stopping_event = 1;
}

static void *request(void *arg)
{
    (void)arg;
    if (enter() == 0)
        assert(!stopped);
    leave();
    return NULL;
}

static void *stopper(void *arg)
{
    (void)arg;
    stopping = 1;
    leave();
    if (stopping_event)
        stopped = 1;
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, request, NULL);
    pthread_create(&b, NULL, stopper, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
