/* Missed signal: the cook rings a bell when the meal is ready, and the waiter waits for the bell.
 * A condition variable remembers nothing: if the bell rings before the waiter waits, it is lost,
 * and the waiter stands there for ever. The cure is a flag under the lock: while (!ready) wait.
 *
 *     threadbare hunt examples/missed_signal.c
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t kitchen = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;

static void *cook(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&kitchen);
    pthread_cond_signal(&bell);
    pthread_mutex_unlock(&kitchen);
    return NULL;
}

static void *waiter(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&kitchen);
    pthread_cond_wait(&bell, &kitchen);
    pthread_mutex_unlock(&kitchen);
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, waiter, NULL);
    pthread_create(&second, NULL, cook, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);

    puts("served");
    return 0;
}
