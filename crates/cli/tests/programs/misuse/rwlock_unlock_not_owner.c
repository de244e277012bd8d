// expect: misuse
// message: without holding it
#include <pthread.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void *work(void *unused) {
    pthread_rwlock_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
