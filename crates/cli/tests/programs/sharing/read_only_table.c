// expect: pass
// most-steps: 100
// executions: 50
// A table filled before the threads start and only read by them.
#include <assert.h>
#include <pthread.h>
static int table[1000], sums[2];
static void *work(void *arg) {
    long me = (long)arg, sum = 0;
    for (int i = 0; i < 1000; i++) sum += table[i];
    sums[me] = (int)sum;
    return 0;
}
int main(void) {
    pthread_t a, b;
    for (int i = 0; i < 1000; i++) table[i] = i;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(sums[0] == 499500 && sums[1] == 499500);
    return 0;
}
