/* Correct: a cache of objects with a bounded size in the spirit of cache4j. Each call takes the
 * cache's lock at a place of its own; caches are looked up in a directory with another lock. Four
 * threads add, four remove, one cleans up, one administers. */
#include <assert.h>
#include <pthread.h>

#define CAPACITY 6
#define CALLS 7
#define THREADS 10

struct entry {
    int key, value, used;
};

struct cache {
    pthread_mutex_t lock;
    struct entry entries[CAPACITY];
    int size, limit, now;
    int hits, misses, puts, removals;
};

static struct {
    pthread_mutex_t lock;
    struct cache *cache;
    int lookups;
} directory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct cache sessions = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = 4};

static struct cache *find_cache(void)
{
    pthread_mutex_lock(&directory.lock);
    directory.lookups = directory.lookups + 1;
    struct cache *found = directory.cache;
    pthread_mutex_unlock(&directory.lock);
    return found;
}

static void register_cache(struct cache *cache)
{
    pthread_mutex_lock(&directory.lock);
    directory.cache = cache;
    pthread_mutex_unlock(&directory.lock);
}

/* From here on, down to `drop_oldest`: with the cache's lock held. */
static int index_of(const struct cache *c, int key)
{
    for (int i = 0; i < c->size; i++)
        if (c->entries[i].key == key)
            return i;
    return -1;
}

static void drop(struct cache *c, int index)
{
    c->entries[index] = c->entries[c->size - 1];
    c->size = c->size - 1;
}

static void drop_oldest(struct cache *c)
{
    int oldest = 0;
    for (int i = 1; i < c->size; i++)
        if (c->entries[i].used < c->entries[oldest].used)
            oldest = i;
    drop(c, oldest);
}

static void put(struct cache *c, int key)
{
    pthread_mutex_lock(&c->lock);
    int index = index_of(c, key);
    if (index < 0) {
        while (c->size >= c->limit)
            drop_oldest(c);
        index = c->size;
        c->size = c->size + 1;
    }
    c->now = c->now + 1;
    c->entries[index] = (struct entry){key, key * 10, c->now};
    c->puts = c->puts + 1;
    assert(c->size <= c->limit);
    pthread_mutex_unlock(&c->lock);
}

static void get(struct cache *c, int key)
{
    pthread_mutex_lock(&c->lock);
    int index = index_of(c, key);
    if (index < 0) {
        c->misses = c->misses + 1;
    } else {
        assert(c->entries[index].value == key * 10);
        c->now = c->now + 1;
        c->entries[index].used = c->now;
        c->hits = c->hits + 1;
    }
    pthread_mutex_unlock(&c->lock);
}

static void remove_key(struct cache *c, int key)
{
    pthread_mutex_lock(&c->lock);
    int index = index_of(c, key);
    if (index >= 0) {
        drop(c, index);
        c->removals = c->removals + 1;
    }
    pthread_mutex_unlock(&c->lock);
}

static void clean(struct cache *c, int age)
{
    pthread_mutex_lock(&c->lock);
    for (int i = c->size - 1; i >= 0; i--)
        if (c->entries[i].used < c->now - age)
            drop(c, i);
    pthread_mutex_unlock(&c->lock);
}

/* Defines a call that sets or reads a field under the lock, at a place of its own. */
#define LOCKED_CALL(name, statement)                \
    static void name(struct cache *c, int argument) \
    {                                               \
        (void)argument;                             \
        pthread_mutex_lock(&c->lock);               \
        statement;                                  \
        pthread_mutex_unlock(&c->lock);             \
    }

LOCKED_CALL(clear, c->size = 0)
LOCKED_CALL(set_limit, c->limit = CAPACITY)
LOCKED_CALL(reset_info, c->hits = c->misses = 0)
LOCKED_CALL(size, (void)c->size)
LOCKED_CALL(limit, (void)c->limit)
LOCKED_CALL(hit_count, (void)c->hits)
LOCKED_CALL(miss_count, (void)c->misses)
LOCKED_CALL(put_count, (void)c->puts)
LOCKED_CALL(removal_count, (void)c->removals)

typedef void call(struct cache *c, int argument);

static call *const adding[CALLS] = {put, size, put, get, put_count, put, hit_count};
static call *const removing[CALLS] = {remove_key, miss_count,    get, remove_key,
                                      size,       removal_count, get};
static call *const cleaning[CALLS] = {clean, size, clean, limit, clean, miss_count, clean};
static call *const administering[CALLS] = {set_limit, hit_count, reset_info,   clear,
                                           limit,     put_count, removal_count};

static call *const *const scripts[THREADS] = {
    adding, adding, adding, adding, removing, removing, removing, removing, cleaning, administering,
};

static void *worker(void *arg)
{
    int number = (int)(long)arg;
    call *const *calls = scripts[number];
    struct cache *cache = find_cache();
    for (int i = 0; i < CALLS; i++)
        calls[i](cache, number % 4 + i % 3);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    register_cache(&sessions);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(sessions.size <= sessions.limit && sessions.puts == 12 && directory.lookups == THREADS);
    return 0;
}
