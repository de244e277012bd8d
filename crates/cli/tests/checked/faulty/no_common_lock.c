/* Every two of these threads have a lock in common when they change the balance, so nothing races; but no lock protects it. */
// finds: lock-discipline balance 15 35
// finds: lock-discipline balance 15 25
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void *pay(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    balance -= 1;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return NULL;
}

static void *earn(void *unused)
{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c);
    balance += 1;
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    return NULL;
}

static void *save(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&c);
    balance += 2;
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&a);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    pthread_create(&threads[0], NULL, pay, NULL);
    pthread_create(&threads[1], NULL, pay, NULL);
    pthread_create(&threads[2], NULL, earn, NULL);
    pthread_create(&threads[3], NULL, save, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
