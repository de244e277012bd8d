/* Three threads copy a token along x1, x2, x3, each under the lock. Only the order 1, 2, 3 makes
 * all three equal, and nothing enforces it. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x1 = 1, x2 = 2, x3 = 1;

static void *first(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    x1 = (x3 + 1) % 4;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *second(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    x2 = x1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *third(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    x3 = x2;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;

    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_create(&c, NULL, third, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(x1 == x2 && x2 == x3);
    return 0;
}
