// Two threads deadlock. Two others take locks in both orders, too, but never at the same time.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static int first_is_done, shared;

static void *up(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&a); /* bug 1 */
    pthread_mutex_lock(&b); /* bug 1 */
    shared = shared + 1;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return 0;
}

static void *down(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&b); /* bug 1 */
    pthread_mutex_lock(&a); /* bug 1 */
    shared = shared + 1;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return 0;
}

static void *first(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c);
    shared = shared + 1;
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&b);
    pthread_mutex_lock(&turn_lock);
    first_is_done = 1;
    pthread_mutex_unlock(&turn_lock);
    return 0;
}

static void *second(void *arg)
{
    int is_done;

    (void)arg;
    pthread_mutex_lock(&turn_lock);
    is_done = first_is_done;
    pthread_mutex_unlock(&turn_lock);
    if (!is_done)
        return 0;
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&b);
    shared = shared + 1;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&c);
    return 0;
}

int main(void)
{
    void *(*work[])(void *) = {up, down, first, second};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work[i], 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
