// Looks at a flag and then sleeps until a signal comes: it may come in between.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void on_user(int signal) {
    (void)signal;
    asked = 1;
}

static void *ask(void *main_thread) {
    pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
    return NULL;
}

int main(void) {
    pthread_t self = pthread_self(), asker;
    signal(SIGUSR1, on_user);
    pthread_create(&asker, NULL, ask, &self);
    if (!asked) pause();
    pthread_join(asker, NULL);
    return 0;
}
