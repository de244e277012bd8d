// expect: uncontrolled
// message: condition variables that are shared between processes
// strategies: random
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_cond_t cond;
static void *work(void *unused) {
    if (fork() == 0) _exit(0);
    wait(0);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&cond, &attributes);
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
