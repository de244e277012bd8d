// expect: pass
// os-threads
// Destructors run while values are left, up to four rounds, under control.
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t again, plain, deleted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds, freed;

static void set_again(void *value) {
    pthread_mutex_lock(&lock);
    rounds++;
    pthread_mutex_unlock(&lock);
    pthread_setspecific(again, value);
}

static void release(void *value) {
    pthread_mutex_lock(&lock);
    freed++;
    pthread_mutex_unlock(&lock);
    assert(pthread_getspecific(plain) == 0);
    free(value);
}

static void never(void *value) { abort(); }

static void *work(void *unused) {
    assert(pthread_getspecific(plain) == 0);
    pthread_setspecific(again, &rounds);
    pthread_setspecific(plain, malloc(8));
    pthread_setspecific(deleted, &rounds);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_key_create(&again, set_again);
    pthread_key_create(&plain, release);
    pthread_key_create(&deleted, never);
    pthread_key_delete(deleted);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(freed == 2 && rounds == 2 * PTHREAD_DESTRUCTOR_ITERATIONS);
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    assert(freed == 3);
    return 0;
}
