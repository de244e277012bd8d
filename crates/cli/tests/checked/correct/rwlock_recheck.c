// A reader that finds work to do looks again once it holds the lock for writing.
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int ready, made;

static void *user(void *unused) {
    pthread_rwlock_rdlock(&lock);
    int is_ready = ready;
    pthread_rwlock_unlock(&lock);
    if (!is_ready) {
        pthread_rwlock_wrlock(&lock);
        if (!ready) {
            made++;
            ready = 1;
        }
        pthread_rwlock_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, user, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    assert(made == 1);
    return 0;
}
