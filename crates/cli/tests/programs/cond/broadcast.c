// expect: pass
// A broadcast wakes all who wait, one after the other.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, gone = PTHREAD_COND_INITIALIZER;
static int open_, through;

static void *wait(void *unused) {
    pthread_mutex_lock(&lock);
    while (!open_) pthread_cond_wait(&go, &lock);
    if (++through == 4) pthread_cond_signal(&gone);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, wait, 0);
    pthread_mutex_lock(&lock);
    open_ = 1;
    pthread_cond_broadcast(&go);
    while (through < 4) pthread_cond_wait(&gone, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    assert(through == 4);
    return 0;
}
