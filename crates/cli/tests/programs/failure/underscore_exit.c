// expect: exit
// message: exit status 9
// os-threads
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int n;
static void handler(void) { _exit(0); }
static void *work(void *unused) { if (n++) _exit(9); return unused; }
int main(void) {
    pthread_t a, b;
    atexit(handler);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
