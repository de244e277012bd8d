// expect: segfault
// executions: 10
#include <pthread.h>
static int sum;
static int deep(int n) {
    volatile char space[512];
    space[0] = (char)n;
    return n == 0 ? 0 : deep(n + 1) + space[0];
}
static void *work(void *unused) { sum += deep(1); return unused; }
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return sum;
}
