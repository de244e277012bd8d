// Opposite orders are fine for threads that back off when the second lock is taken.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0) break;
        pthread_mutex_unlock(first);
        sched_yield();
    }
    count++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *up(void *unused) {
    both(&a, &b);
    return unused;
}

static void *down(void *unused) {
    both(&b, &a);
    return unused;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, up, 0);
    pthread_create(&y, 0, down, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    assert(count == 2);
    return 0;
}
