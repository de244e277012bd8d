/* A hash table that locks itself for each call (java.util.Hashtable of JDK 1.6), except for
 * growing, which the benchmark calls from outside without the lock. Growing publishes the new,
 * empty table first and moves the keys one by one: keys put into the old table meanwhile are lost,
 * and a copy made meanwhile notices that the table has changed under it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define EMPTY 0

struct table {
    int capacity;
    int keys[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *table;
static int threshold;
static int count;
static int changes;

static struct table *new_table(int capacity)
{
    struct table *fresh = calloc(1, sizeof *fresh + capacity * sizeof(int));
    fresh->capacity = capacity;
    return fresh;
}

static void insert(struct table *into, int key)
{
    int at = key % into->capacity;
    while (into->keys[at] != EMPTY)
        at = (at + 1) % into->capacity;
    into->keys[at] = key;
}

static void rehash(void)
{
    struct table *old = table;
    struct table *grown = new_table(old->capacity * 2 + 1);
    changes = changes + 1;
    threshold = grown->capacity / 2;
    table = grown;
    for (int i = 0; i < old->capacity; i++) {
        int key = old->keys[i];
        if (key != EMPTY)
            insert(grown, key);
    }
}

static void put(int key)
{
    pthread_mutex_lock(&lock);
    if (count >= threshold)
        rehash();
    insert(table, key);
    changes = changes + 1;
    count = count + 1;
    pthread_mutex_unlock(&lock);
}

static int contains(int key)
{
    pthread_mutex_lock(&lock);
    struct table *searched = table;
    int at = key % searched->capacity;
    while (searched->keys[at] != EMPTY && searched->keys[at] != key)
        at = (at + 1) % searched->capacity;
    int found = searched->keys[at] == key;
    pthread_mutex_unlock(&lock);
    return found;
}

/* What another container does to take all keys over: an iterator, which nobody locks. */
static int sum_of_copied(void)
{
    struct table *iterated = table;
    int expected = changes, sum = 0;
    for (int i = 0; i < iterated->capacity; i++) {
        int key = iterated->keys[i];
        if (key != EMPTY) {
            assert(changes == expected && "changed while it was iterated");
            sum += key;
        }
    }
    return sum;
}

static void *first_suffix(void *arg)
{
    (void)arg;
    rehash();
    sum_of_copied();
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    put(3);
    put(4);
    rehash();
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    table = new_table(5);
    threshold = 4;
    put(1);
    put(2);
    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (int key = 1; key <= 4; key++)
        assert(contains(key) && "a key got lost");
    return 0;
}
