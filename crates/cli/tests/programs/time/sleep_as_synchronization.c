// expect: assertion
// options: --timers loose
// The bug that sleeping hides.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int ready;
static void *work(void *unused) {
    ready = 1;
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    sleep(2);
    assert(ready);
    pthread_join(a, 0);
    return 0;
}
