// expect: pass
// reaches: nested masked
// os-threads
// A handler can be interrupted by another one, unless it has said otherwise; never by itself.
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
static int inside_first, inside_second, inside_quiet, shared;

static void first(int signal) {
    assert(!inside_first);
    inside_first = 1;
    __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    inside_first = 0;
}

static void second(int signal) {
    assert(!inside_second && !inside_quiet);
    inside_second = 1;
    if (inside_first) reached("nested");
    __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    inside_second = 0;
}

static void quiet(int signal) {
    sigset_t pending;
    inside_quiet = 1;
    __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    sigpending(&pending);
    if (sigismember(&pending, SIGUSR2)) reached("masked");
    inside_quiet = 0;
}

static void *poke(void *target) {
    pthread_t thread = *(pthread_t *)target;
    pthread_kill(thread, SIGUSR1);
    pthread_kill(thread, SIGUSR1);
    pthread_kill(thread, SIGHUP);
    pthread_kill(thread, SIGUSR2);
    return 0;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t self = pthread_self(), other;
    struct sigaction action = {.sa_handler = first};
    sigaction(SIGUSR1, &action, 0);
    action.sa_handler = second;
    sigaction(SIGUSR2, &action, 0);
    action.sa_handler = quiet;
    sigfillset(&action.sa_mask);
    sigaction(SIGHUP, &action, 0);
    pthread_create(&other, 0, poke, &self);
    __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    pthread_join(other, 0);
    return 0;
}
