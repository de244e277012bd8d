// expect: misuse
// message: without holding
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static void *work(void *unused) {
    pthread_cond_signal(&cond);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_cond_wait(&cond, &lock);
    pthread_join(a, 0);
    return 0;
}
