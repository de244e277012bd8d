// A handler makes a call that fails and leaves its error number behind.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void on_user(int signal) {
    (void)signal;
    close(-1);
}

static void *poke(void *main_thread) {
    pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
    return NULL;
}

int main(void) {
    pthread_t self = pthread_self(), poker;
    signal(SIGUSR1, on_user);
    pthread_create(&poker, NULL, poke, &self);
    errno = 0;
    long number = strtol("42", NULL, 10);
    assert(number == 42 && errno == 0);
    pthread_join(poker, NULL);
    return 0;
}
