// expect: uncontrolled
// message: POSIX message queues
// strategies: random
#include <fcntl.h>
#include <pthread.h>
#include <mqueue.h>
static void *work(void *unused) {
    return (int)mq_open("/threadbare-test", 0) < 0 ? 0 : unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
