// expect: deadlock
// message: to end
// A thread that joins its joiner.
#include <pthread.h>
static pthread_t self;
static void *work(void *unused) {
    pthread_join(self, 0);
    return unused;
}
int main(void) {
    pthread_t a;
    self = pthread_self();
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
