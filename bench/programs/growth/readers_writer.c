// THREADS threads, every other one a writer, use one readers-writer lock twice each.
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int left, right;

static void *write_both(void *argument) {
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_wrlock(&lock);
        left++;
        right++;
        pthread_rwlock_unlock(&lock);
    }
    return argument;
}

static void *read_both(void *argument) {
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_rdlock(&lock);
        assert(left == right);
        pthread_rwlock_unlock(&lock);
    }
    return argument;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i % 2 ? write_both : read_both, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert(left == THREADS / 2 * 2);
    return 0;
}
