// As lost_wakeup, with the signal blocked until the sleep begins.
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
    sigset_t users, before;
    signal(SIGUSR1, on_user);
    sigemptyset(&users);
    sigaddset(&users, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &users, &before);
    pthread_create(&asker, NULL, ask, &self);
    while (!asked) sigsuspend(&before);
    pthread_join(asker, NULL);
    return 0;
}
