// expect: exit
// message: exit status 7
// os-threads
// exit() in a worker ends the process while others run; handlers run first.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int turns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(void) {
    if (turns < 0) _exit(0);
}

static void *spin(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        turns++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *end(void *unused) {
    exit(7);
    return unused;
}

int main(void) {
    pthread_t a, b;
    atexit(handler);
    pthread_create(&a, 0, spin, 0);
    pthread_create(&b, 0, end, 0);
    pthread_join(a, 0);
    return 0;
}
