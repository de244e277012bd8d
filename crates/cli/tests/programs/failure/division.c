// expect: segfault
// message: arithmetic
#include <pthread.h>
static volatile int divisor = 1, result;
static void *clear(void *unused) { divisor = 0; divisor = 1; return unused; }
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, clear, 0);
    result = 10 / divisor;
    pthread_join(a, 0);
    return 0;
}
