// expect: pass
// Without the option no wait ends by itself.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&lock);
    if (!ready) pthread_cond_wait(&cond, &lock);
    assert(ready);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
