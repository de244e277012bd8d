/* An object pool. Whoever replaces the factory takes the lock, and does so only if no object is out; whoever closes the
   pool forgets to. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int num_active;
static int factory = 1;
static int uses[16];
static int cleared, closed, refused;

static void count_uses(int by) {
    for (int i = 0; i < 16; i++)
        uses[i] = uses[i] + by;
}

static void *close_pool(void *unused) {
    pthread_mutex_lock(&lock);
    closed = closed + 1;
    count_uses(1);
    pthread_mutex_unlock(&lock);
    factory = 0;
    pthread_mutex_lock(&lock);
    count_uses(closed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *set_factory(void *unused) {
    pthread_mutex_lock(&lock);
    count_uses(cleared);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (num_active > 0) {
        refused = refused + 1;
    } else {
        cleared = cleared + 1;
        factory = 2;
    }
    count_uses(2);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *borrow(void *unused) {
    pthread_mutex_lock(&lock);
    num_active = num_active + 1;
    count_uses(3);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    count_uses(num_active);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, borrow, NULL);
    pthread_create(&threads[1], NULL, set_factory, NULL);
    pthread_create(&threads[2], NULL, close_pool, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
