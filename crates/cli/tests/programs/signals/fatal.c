// expect: segfault
// message: SIGTERM
// A signal nobody handles ends the program.
#include <pthread.h>
#include <signal.h>
static int n;
static void *work(void *unused) {
    if (n++) pthread_kill(pthread_self(), SIGTERM);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
