// expect: pass
// A routine whose thread is cancelled inside it is run again by another thread.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int runs;

static void init(void) {
    if (runs++ == 0) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
}

static void *work(void *unused) {
    pthread_once(&once, init);
    return unused;
}

int main(void) {
    pthread_t a, b;
    void *ra, *rb;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, &ra);
    pthread_join(b, &rb);
    assert((ra == PTHREAD_CANCELED) + (rb == PTHREAD_CANCELED) == 1);
    assert(runs == 2);
    return 0;
}
