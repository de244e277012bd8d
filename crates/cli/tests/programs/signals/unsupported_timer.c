// expect: uncontrolled
// message: timer_create
// strategies: random
#include <pthread.h>
#include <signal.h>
#include <time.h>
static void *work(void *unused) {
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, 0, &timer);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
