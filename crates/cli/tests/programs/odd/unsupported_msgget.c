// expect: uncontrolled
// message: System V message queues
// strategies: random
#include <fcntl.h>
#include <pthread.h>
#include <sys/msg.h>
static void *work(void *unused) {
    return msgget(IPC_PRIVATE, 0600) < 0 ? 0 : unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
