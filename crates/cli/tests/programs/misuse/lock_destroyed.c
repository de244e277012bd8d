// expect: misuse
// message: after it was destroyed
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) { return unused; }
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    pthread_mutex_destroy(&lock);
    pthread_mutex_lock(&lock);
    return 0;
}
