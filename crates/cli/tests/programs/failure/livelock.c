// expect: hang
// message: livelock
// executions: 300
// strategies: random pct pos auto
// Each thread waits for the other's flag; nobody ever sets one.
#include <pthread.h>
static volatile int flags[2];
static void *work(void *arg) {
    long me = (long)arg;
    while (!flags[1 - me]) {}
    flags[me] = 1;
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
