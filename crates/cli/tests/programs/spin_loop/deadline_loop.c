// expect: pass
// executions: 40
// strategies: all
// Waiting by the clock alone: virtual time goes on while it is looked at.
#include <pthread.h>
#include <time.h>
static int shared;
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
static void *work(void *unused) {
    double end = now() + 0.5;
    while (now() < end) {}
    shared++;
    time_t second = time(0);
    while (time(0) == second) {}
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    work(0);
    pthread_join(a, 0);
    return shared < 1;
}
