// Width and height are each under a lock, but not together.
// cause: width|height 13 16 23 26
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int width = 4, height = 4;

static void *grow(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&guard);
    width = 8;
    pthread_mutex_unlock(&guard);
    pthread_mutex_lock(&guard);
    height = 8;
    pthread_mutex_unlock(&guard);
    return 0;
}
static void measure(void)
{
    pthread_mutex_lock(&guard);
    int w = width;
    pthread_mutex_unlock(&guard);
    pthread_mutex_lock(&guard);
    int h = height;
    pthread_mutex_unlock(&guard);
    assert(w == h);
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, grow, 0);
    measure();
    pthread_join(thread, 0);
    return 0;
}
