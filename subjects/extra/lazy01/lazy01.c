/* Two threads add to a value, a third expects to come before at least one of them. Every access
 * is locked; the order is what nobody controls. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void *add_one(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    data = data + 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *add_two(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    data = data + 2;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *checker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    assert(data < 3);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;

    pthread_create(&a, NULL, add_one, NULL);
    pthread_create(&b, NULL, add_two, NULL);
    pthread_create(&c, NULL, checker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
