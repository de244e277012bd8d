// expect: pass
// reaches: before-disable asynchronous
// os-threads
// Disabled cancellation waits; mutexes are no cancellation points; asynchronous takes any point.
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int stage, turns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *deferred(void *unused) {
    int old;
    pthread_testcancel();
    assert(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0 && old == PTHREAD_CANCEL_ENABLE);
    pthread_testcancel();
    sleep(1);
    stage = 1;
    assert(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old) == 0 && old == PTHREAD_CANCEL_DISABLE);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    stage = 2;
    for (;;) pthread_testcancel();
    return unused;
}

static void *asynchronous(void *unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    for (;;) __atomic_add_fetch(&turns, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a, b;
    void *value;
    pthread_create(&a, 0, deferred, 0);
    pthread_cancel(a);
    pthread_join(a, &value);
    assert(value == PTHREAD_CANCELED && (stage == 0 || stage == 2));
    if (stage == 0) reached("before-disable");
    pthread_create(&b, 0, asynchronous, 0);
    pthread_cancel(b);
    pthread_join(b, &value);
    assert(value == PTHREAD_CANCELED);
    reached("asynchronous");
    return 0;
}
