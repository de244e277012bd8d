/* A growing array that locks itself for each call (java.util.Vector of JDK 1.1.7), but for a last
 * position that is worked out before the lock is taken. When the elements are removed and the
 * storage is trimmed in between, the search begins beyond the end of the storage. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct storage {
    int length;
    int elements[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct storage *data;
static int count;

static struct storage *new_storage(int length)
{
    struct storage *fresh = calloc(1, sizeof *fresh + length * sizeof(int));
    fresh->length = length;
    return fresh;
}

static int element(const struct storage *storage, int index)
{
    assert(index < storage->length && "beyond the storage");
    return storage->elements[index];
}

static int last_index_of(int wanted)
{
    int index = count - 1;
    pthread_mutex_lock(&lock);
    while (index >= 0 && element(data, index) != wanted)
        index--;
    pthread_mutex_unlock(&lock);
    return index;
}

static void add_element(int value)
{
    pthread_mutex_lock(&lock);
    data->elements[count] = value;
    count = count + 1;
    pthread_mutex_unlock(&lock);
}

static void remove_all_elements(void)
{
    pthread_mutex_lock(&lock);
    count = 0;
    pthread_mutex_unlock(&lock);
}

static void trim_to_size(void)
{
    pthread_mutex_lock(&lock);
    if (count < data->length) {
        struct storage *trimmed = new_storage(count);
        for (int i = 0; i < count; i++)
            trimmed->elements[i] = data->elements[i];
        data = trimmed; /* the old one is not freed, as a collector would not yet */
    }
    pthread_mutex_unlock(&lock);
}

static void *first_suffix(void *arg)
{
    (void)arg;
    last_index_of(7);
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    remove_all_elements();
    trim_to_size();
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    data = new_storage(4);
    add_element(7);
    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
