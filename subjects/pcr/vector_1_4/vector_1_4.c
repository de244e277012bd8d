/* A growing array that locks itself for each call (java.util.Vector of JDK 1.4.2). A copy is built
 * in two calls on the original: its size, then its elements into storage of that size. When the
 * original has shrunk in between, the rest of the copy stays empty; when it has outgrown the
 * storage, nothing is copied at all. Searching the copy then follows NULL. */
#include <pthread.h>
#include <stdlib.h>

#define CAPACITY 16

struct item {
    int key;
};

struct vector {
    pthread_mutex_t lock;
    int count;
    const struct item **data;
};

static const struct item items[] = {{1}, {2}, {3}, {4}};
static struct vector shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int size(struct vector *v)
{
    pthread_mutex_lock(&v->lock);
    int count = v->count;
    pthread_mutex_unlock(&v->lock);
    return count;
}

/* Fills the storage if there is room; the caller here never looks at a replacement. */
static void to_array(struct vector *v, const struct item **into, int room)
{
    pthread_mutex_lock(&v->lock);
    if (v->count <= room)
        for (int i = 0; i < v->count; i++)
            into[i] = v->data[i];
    pthread_mutex_unlock(&v->lock);
}

static struct vector *copy_of(struct vector *original)
{
    struct vector *copy = calloc(1, sizeof *copy);
    pthread_mutex_init(&copy->lock, NULL);
    copy->count = size(original);
    int room = copy->count * 110 / 100;
    copy->data = calloc(room, sizeof *copy->data);
    to_array(original, copy->data, room);
    return copy;
}

static int contains(struct vector *v, int key)
{
    int found = 0;
    pthread_mutex_lock(&v->lock);
    for (int i = 0; i < v->count && !found; i++)
        found = v->data[i]->key == key;
    pthread_mutex_unlock(&v->lock);
    return found;
}

static void add(struct vector *v, const struct item *item)
{
    pthread_mutex_lock(&v->lock);
    v->data[v->count] = item;
    v->count = v->count + 1;
    pthread_mutex_unlock(&v->lock);
}

static void shrink(struct vector *v, int count)
{
    pthread_mutex_lock(&v->lock);
    while (v->count > count) {
        v->data[v->count - 1] = NULL;
        v->count = v->count - 1;
    }
    pthread_mutex_unlock(&v->lock);
}

static void *first_suffix(void *arg)
{
    (void)arg;
    struct vector *copy = copy_of(&shared);
    contains(copy, 4);
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    add(&shared, &items[2]);
    contains(&shared, 1);
    shrink(&shared, 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    shared.data = calloc(CAPACITY, sizeof *shared.data);
    add(&shared, &items[0]);
    add(&shared, &items[1]);
    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
