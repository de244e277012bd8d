// expect: pass
// reaches: early late
// os-threads
// pthread_kill runs the handler in the chosen thread, at some point of its run.
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static pthread_t target;
static volatile sig_atomic_t count, in_target;
static int steps;

static void handler(int signal) {
    assert(signal == SIGUSR1);
    in_target = pthread_equal(pthread_self(), target);
    count++;
    reached(steps == 0 ? "early" : "late");
}

static void *work(void *unused) {

    for (int i = 0; i < 4; i++) __atomic_add_fetch(&steps, 1, __ATOMIC_SEQ_CST);
    while (!count) {}
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t t;
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&t, 0, work, 0);
    target = t;
    assert(pthread_kill(t, SIGUSR1) == 0);
    pthread_join(t, 0);
    assert(count == 1 && in_target);
    return 0;
}
