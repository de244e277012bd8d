// expect: pass
// executions: 40
// strategies: all
// os-threads
// A flag that is a plain int, as in the oldest programs.
#include <pthread.h>
static volatile int flag, answer;
static void *work(void *unused) {
    while (!flag) {}
    answer = 1;
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    flag = 1;
    while (!answer) {}
    pthread_join(a, 0);
    return 0;
}
