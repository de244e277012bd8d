// expect: uncontrolled
// message: SIGEV_THREAD
// strategies: random
// A timer that calls a function in a thread of its own is beyond control.
#include <pthread.h>
#include <signal.h>
#include <time.h>
static void ring(union sigval value) { (void)value; }
static void *work(void *unused) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
