// expect: pass
// executions: 5
// options: --timers ordered
// Handlers that run one after the other on a blocked thread's stack leave nothing there.
#define _GNU_SOURCE
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int handled;

static void handle(int signal) { (void)signal; handled++; }

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_attr_t a;
    signal(SIGUSR1, handle);
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 1 << 17);
    pthread_mutex_lock(&lock);
    pthread_create(&t, &a, work, 0);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_kill(t, SIGUSR1);
        while (handled == i) usleep(1);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    assert(handled == ROUNDS);
}
