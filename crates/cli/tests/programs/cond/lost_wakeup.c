// expect: deadlock
// message: a signal on
// os-threads
// The signal comes between the test and the wait.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int ready;

static void *work(void *unused) {
    ready = 1;
    pthread_cond_signal(&cond);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&lock);
    if (!ready) pthread_cond_wait(&cond, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
