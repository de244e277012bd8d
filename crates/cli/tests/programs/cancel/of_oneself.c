// expect: pass
// executions: 60
// Who cancels itself at any time ends in that call; otherwise at the next point.
#include <assert.h>
#include <pthread.h>

static int after_call, after_point;

static void *at_once(void *unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    pthread_cancel(pthread_self());
    after_call = 1;
    return unused;
}

static void *later(void *unused) {
    pthread_cancel(pthread_self());
    after_point = 1;
    pthread_testcancel();
    after_point = 2;
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, at_once, 0);
    assert(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED && after_call == 0);
    pthread_create(&thread, 0, later, 0);
    assert(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED && after_point == 1);
    return 0;
}
