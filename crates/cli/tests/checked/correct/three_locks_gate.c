// Three locks in a cycle, but a fourth lets one thread through at a time.
#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *const pairs[3][2] = {{&a, &b}, {&b, &c}, {&c, &a}};
static int count;

static void *both(void *arg) {
    pthread_mutex_t *const *pair = arg;
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(pair[0]);
    pthread_mutex_lock(pair[1]);
    count++;
    pthread_mutex_unlock(pair[1]);
    pthread_mutex_unlock(pair[0]);
    pthread_mutex_unlock(&gate);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, both, (void *)pairs[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
