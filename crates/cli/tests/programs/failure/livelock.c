// expect: hang
// message: livelock
// strategies: random pct pos auto
// Each thread claims its turn and then waits for the other to withdraw.
#include <pthread.h>
static volatile int claims[2];
static void *work(void *arg) {
    long me = (long)arg;
    claims[me] = 1;
    while (claims[1 - me]) {}
    claims[me] = 0;
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
