/* A failure that hides behind values: y has to get to 3 while x has the right value at each step
 * on the way, and the watcher has to look before anything is reset. Random schedules practically
 * never meet it; it takes a technique that reasons about which write a read sees. */
#include <assert.h>
#include <pthread.h>

#define ROUNDS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *raiser(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        x = 0;
        pthread_mutex_unlock(&lock);
        if (x > 0) {
            y = y + 1;
            x = 2;
        }
    }
    return NULL;
}

static void *watcher(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        if (x > 1) {
            assert(y != 3);
            y = 2;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, raiser, NULL);
    pthread_create(&b, NULL, watcher, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        x = 1;
        y = 1;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
