// expect: assertion
// message: n == 2
// os-threads
#include <assert.h>
#include <pthread.h>
static int n;
static void *add(void *unused) { n++; return unused; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
