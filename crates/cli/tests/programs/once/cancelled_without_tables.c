// expect: pass
// flags: -fno-exceptions -fno-asynchronous-unwind-tables
// As in cancelled.c, in code of which nobody knows how to unwind its stack: the clean-up handlers run, and another thread begins anew.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int runs, cleaned;

static void clean(void *unused) {
    (void)unused;
    cleaned++;
}

static void init(void) {
    pthread_cleanup_push(clean, 0);
    if (runs++ == 0) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
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
    assert(runs == 2 && cleaned == 1);
}
