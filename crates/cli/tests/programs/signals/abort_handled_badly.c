// expect: assertion
// message: never
// A handler of SIGABRT that ends the process badly changes nothing about why.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void give_up(int signal) { _exit(signal); }

static void *work(void *unused) {
    assert(!"never");
    return unused;
}

int main(void) {
    pthread_t thread;
    signal(SIGABRT, give_up);
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
