// expect: pass
// A wait with a recursive mutex gives the mutex back once and takes it again.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attr);
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&lock);
    while (!ready) assert(pthread_cond_wait(&cond, &lock) == 0);
    assert(pthread_mutex_unlock(&lock) == 0);
    pthread_join(t, 0);
    return 0;
}
