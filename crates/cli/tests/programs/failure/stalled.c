// expect: uncontrolled
// message: no scheduling point
// options: --stall 0.3
// executions: 20
// strategies: random
// A loop that touches nothing shared never comes to a scheduling point.
#include <pthread.h>
static int seen;
static void *work(void *unused) {
    seen = 1;
    if (seen)
        for (volatile long i = 0;; i++) {}
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
