// expect: misuse
// message: destroys
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&cond, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_mutex_lock(&lock);
    pthread_cond_destroy(&cond);
    pthread_mutex_unlock(&lock);
    return 0;
}
