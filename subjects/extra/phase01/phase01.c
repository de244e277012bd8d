/* A thread takes two locks and forgets to give the second one back. Whoever wants it later waits
 * for ever; a thread that had its turn before is fine. */
#include <pthread.h>

static pthread_mutex_t x = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t y = PTHREAD_MUTEX_INITIALIZER;
static int phase;

static void *forgetful(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&x);
    pthread_mutex_lock(&y);
    phase = phase + 1;
    pthread_mutex_unlock(&x);
    return NULL;
}

static void *careful(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&x);
    pthread_mutex_lock(&y);
    phase = phase + 1;
    pthread_mutex_unlock(&y);
    pthread_mutex_unlock(&x);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, forgetful, NULL);
    pthread_create(&b, NULL, careful, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
