/* Four setters store i and -i, each store under the lock but in separate critical sections; a
 * checker that runs when all are done expects the two to cancel out. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define SETTERS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int a, b;

static void *setter(void *arg)
{
    int i = (int)(intptr_t)arg;
    pthread_mutex_lock(&lock);
    a = i;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    b = -i;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *checker(void *arg)
{
    (void)arg;
    assert(a + b == 0);
    return NULL;
}

int main(void)
{
    pthread_t threads[SETTERS], check;

    for (int i = 0; i < SETTERS; i++)
        pthread_create(&threads[i], NULL, setter, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < SETTERS; i++)
        pthread_join(threads[i], NULL);
    pthread_create(&check, NULL, checker, NULL);
    pthread_join(check, NULL);
    return 0;
}
