// expect: misuse
// message: joined before
// os-threads
#include <pthread.h>
static void *work(void *unused) { return unused; }
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(a, 0);
    return 0;
}
