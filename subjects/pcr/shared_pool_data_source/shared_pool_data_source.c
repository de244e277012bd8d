/* The name of a data source can be set once: a second attempt is refused (SharedPoolDataSource of
 * Apache DBCP 1.4). Nothing holds the check and the setting together, so two attempts can both be
 * accepted. Registering the data source takes a lock of its own, which comes too late. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

static pthread_mutex_t instances_lock = PTHREAD_MUTEX_INITIALIZER;
static int instances;

static struct {
    const char *name;
    int key;
} source;

static int register_instance(void)
{
    pthread_mutex_lock(&instances_lock);
    int key = instances + 1;
    instances = key;
    pthread_mutex_unlock(&instances_lock);
    return key;
}

static int set_name(const char *name)
{
    if (source.name != NULL)
        return 0;
    source.name = name;
    source.key = register_instance();
    return 1;
}

static void *first_suffix(void *arg)
{
    (void)arg;
    set_name(NULL);
    return (void *)(intptr_t)set_name("orders");
}

static void *second_suffix(void *arg)
{
    (void)arg;
    return (void *)(intptr_t)set_name("");
}

int main(void)
{
    pthread_t a, b;
    void *first, *second;

    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, &first);
    pthread_join(b, &second);
    assert(!(first && second) && "two names were accepted");
    return 0;
}
