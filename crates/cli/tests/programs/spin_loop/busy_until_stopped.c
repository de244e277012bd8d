// expect: pass
// executions: 15
// strategies: all
// Workers that count until they are told to stop: they always change something.
#include <pthread.h>
static volatile int stop;
static volatile long counts[2], total;
static void *work(void *arg) {
    long me = (long)arg;
    while (!stop) {
        counts[me]++;
        total = counts[0] + counts[1];
    }
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    stop = 1;
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
