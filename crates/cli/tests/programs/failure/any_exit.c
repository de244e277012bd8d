// expect: pass
// options: --any-exit
#include <pthread.h>
static int n;
static void *add(void *unused) { n++; return unused; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return n == 2 ? 0 : 3;
}
