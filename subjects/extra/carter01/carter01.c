/* Two groups share a resource, one member each. The first of a group takes the resource's lock
 * while it holds the counters' lock, the last gives it back under the counters' lock: one group
 * holds the resource and wants the counters, the other the reverse. */
#include <pthread.h>

static pthread_mutex_t counters = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t resource = PTHREAD_MUTEX_INITIALIZER;
static int a, b;

static void *member(void *arg)
{
    int *group = arg;
    pthread_mutex_lock(&counters);
    if (++*group == 1)
        pthread_mutex_lock(&resource);
    pthread_mutex_unlock(&counters);

    pthread_mutex_lock(&counters);
    if (--*group == 0)
        pthread_mutex_unlock(&resource);
    pthread_mutex_unlock(&counters);
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, member, &a);
    pthread_create(&second, NULL, member, &b);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
