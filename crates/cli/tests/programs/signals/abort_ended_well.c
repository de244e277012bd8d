// expect: pass
// A handler of SIGABRT that ends the process in order leaves nothing to report.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void leave(int signal) { _exit(0); }
static void *work(void *unused) { abort(); }

int main(void) {
    pthread_t thread;
    signal(SIGABRT, leave);
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
