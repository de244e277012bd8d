/* A data source registers itself in a table of all data sources under a new key, one more than the
 * greatest so far (PerUserPoolDataSource of Apache DBCP 1.4). Registering holds the table's lock,
 * removing does not: the table can change under the search for the greatest key. */
#include <assert.h>
#include <pthread.h>

#define CAPACITY 8

static struct {
    pthread_mutex_t lock;
    int size;
    int changes;
    int keys[CAPACITY];
} instances = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    const char *pool;
    int key;
} source;

static void put(int key)
{
    instances.keys[instances.size] = key;
    instances.size = instances.size + 1;
    instances.changes = instances.changes + 1;
}

static int register_instance(void)
{
    int greatest = 0;
    pthread_mutex_lock(&instances.lock);
    int expected = instances.changes;
    for (int i = 0; i < instances.size; i++) {
        assert(instances.changes == expected && "changed while it was iterated");
        if (instances.keys[i] > greatest)
            greatest = instances.keys[i];
    }
    put(greatest + 1);
    pthread_mutex_unlock(&instances.lock);
    return greatest + 1;
}

static void remove_instance(int key)
{
    for (int i = 0; i < instances.size; i++)
        if (instances.keys[i] == key) {
            instances.keys[i] = instances.keys[instances.size - 1];
            instances.size = instances.size - 1;
            instances.changes = instances.changes + 1;
            return;
        }
}

static void set_connection_pool(const char *pool)
{
    source.pool = pool;
    source.key = register_instance();
}

static void close_source(void)
{
    remove_instance(source.key);
}

static void *first_suffix(void *arg)
{
    (void)arg;
    set_connection_pool(NULL);
    close_source();
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    set_connection_pool("orders");
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    put(1);
    put(2);
    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
