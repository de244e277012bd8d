/* Correct: a pool of reusable objects in the spirit of Apache Commons Pool. Borrowing, returning
 * and evicting each take the pool's lock several times, at places of their own, and so does every
 * getter and setter of the configuration. Six threads borrow, four configure and evict. There are
 * as many objects as borrowers, so that places where locks are taken hardly depend on the order. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define OBJECTS 32 /* more than are ever borrowed, should none be used again */
#define CALLS 12
#define THREADS 10

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static int borrowed[OBJECTS]; /* written by whoever has the object */
static int free_numbers = OBJECTS;
static int idle[OBJECTS], idle_count;
static int active, making, evicted;

static int max_active = 6, max_idle = 3, min_idle = 1, max_wait, when_exhausted, lifo;
static int test_on_borrow, test_on_return, test_while_idle, tests_per_eviction;
static int eviction_pause, min_evictable_time, soft_evictable_time;

#define GETTER(field)                \
    static void get_##field(void)    \
    {                                \
        pthread_mutex_lock(&lock);   \
        int value = field;           \
        pthread_mutex_unlock(&lock); \
        (void)value;                 \
    }
#define SETTER(field, value)               \
    static void set_##field(void)          \
    {                                      \
        pthread_mutex_lock(&lock);         \
        field = value;                     \
        pthread_cond_broadcast(&returned); \
        pthread_mutex_unlock(&lock);       \
    }

GETTER(max_active)
GETTER(max_idle)
GETTER(min_idle)
GETTER(max_wait)
GETTER(when_exhausted)
GETTER(test_on_borrow)
GETTER(test_on_return)
GETTER(test_while_idle)
GETTER(eviction_pause)
GETTER(tests_per_eviction)
GETTER(min_evictable_time)
GETTER(soft_evictable_time)
GETTER(lifo)
GETTER(active)
GETTER(idle_count)
SETTER(max_active, 7)
SETTER(max_idle, 2)
SETTER(min_idle, 2)
SETTER(max_wait, 10)
SETTER(when_exhausted, 1)
SETTER(test_on_borrow, 1)
SETTER(test_on_return, 1)
SETTER(test_while_idle, 1)
SETTER(eviction_pause, 100)
SETTER(tests_per_eviction, 2)
SETTER(min_evictable_time, 50)
SETTER(soft_evictable_time, 60)
SETTER(lifo, 1)

/* A number for a new object, or -1 when there are none left; a slot was reserved before. */
static int make_object(void)
{
    pthread_mutex_lock(&lock);
    int number = free_numbers > 0 ? --free_numbers : -1;
    making = making - 1;
    if (number >= 0)
        active = active + 1;
    pthread_mutex_unlock(&lock);
    return number;
}

static int borrow(void)
{
    int number = -1;
    pthread_mutex_lock(&lock);
    while (idle_count == 0 && active + making >= max_active)
        pthread_cond_wait(&returned, &lock);
    if (idle_count > 0) {
        idle_count = idle_count - 1;
        number = idle[idle_count];
        active = active + 1;
    } else {
        making = making + 1;
    }
    pthread_mutex_unlock(&lock);
    if (number < 0)
        number = make_object();
    assert(number >= 0 && borrowed[number] == 0);
    borrowed[number] = 1;
    return number;
}

static void give_back(int number)
{
    int keep;
    borrowed[number] = 0;
    pthread_mutex_lock(&lock);
    keep = idle_count < max_idle;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    active = active - 1;
    if (keep) {
        idle[idle_count] = number;
        idle_count = idle_count + 1;
    }
    pthread_cond_broadcast(&returned);
    pthread_mutex_unlock(&lock);
}

static void invalidate(int number)
{
    borrowed[number] = 0;
    pthread_mutex_lock(&lock);
    active = active - 1;
    pthread_cond_broadcast(&returned);
    pthread_mutex_unlock(&lock);
}

static void evict(void)
{
    int surplus;
    pthread_mutex_lock(&lock);
    surplus = idle_count > min_idle;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (surplus && idle_count > min_idle) {
        idle_count = idle_count - 1;
        evicted = evicted + 1;
    }
    pthread_mutex_unlock(&lock);
}

static void clear(void)
{
    pthread_mutex_lock(&lock);
    evicted = evicted + idle_count;
    idle_count = 0;
    pthread_cond_broadcast(&returned);
    pthread_mutex_unlock(&lock);
}

typedef void call(void);

static call *const scripts[THREADS][CALLS] = {
    {get_max_active, get_idle_count, get_lifo, set_max_wait, get_active},
    {get_max_idle, get_test_on_borrow, get_active, set_lifo, get_max_wait},
    {get_min_idle, get_test_on_return, set_when_exhausted, get_idle_count, get_eviction_pause},
    {get_max_wait, get_active, get_tests_per_eviction, set_test_on_borrow, get_lifo},
    {get_when_exhausted, set_test_on_return, get_min_evictable_time, get_max_active,
     get_idle_count},
    {get_test_while_idle, get_soft_evictable_time, get_min_idle, set_max_active, get_active},
    {evict, set_max_idle, get_max_idle, evict, set_eviction_pause, get_eviction_pause,
     set_test_while_idle, evict},
    {set_min_idle, get_min_idle, evict, set_tests_per_eviction, get_tests_per_eviction, clear,
     set_max_active, evict},
    {set_max_wait, set_min_evictable_time, get_min_evictable_time, clear, set_soft_evictable_time,
     get_lifo, evict},
    {set_lifo, get_test_while_idle, set_when_exhausted, get_when_exhausted, evict,
     get_test_on_borrow, set_max_idle},
};

static void *worker(void *arg)
{
    int number = (int)(long)arg, object = -1;
    int borrows = number < 6;
    for (int i = 0; i < CALLS && scripts[number][i] != NULL; i++) {
        if (borrows && i % 3 == 0)
            object = borrow();
        scripts[number][i]();
        if (borrows && i % 3 == 1)
            give_back(object);
    }
    if (!borrows)
        return NULL;
    object = borrow();
    if (number % 2 == 0)
        invalidate(object);
    else
        give_back(object);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(active == 0 && making == 0);
    return 0;
}
