// expect: segfault
// message: null pointer
// os-threads
#include <pthread.h>
static int value, *pointer = &value;
static void *clear(void *unused) { pointer = 0; pointer = &value; return unused; }
static void *use(void *unused) { *pointer = 3; return unused; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, clear, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
