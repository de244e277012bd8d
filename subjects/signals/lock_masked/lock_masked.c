// As lock_in_handler, but the signal is blocked wherever the lock is held.
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int entries;

static void append(void) {
    pthread_mutex_lock(&lock);
    entries++;
    pthread_mutex_unlock(&lock);
}

static void on_user(int signal) {
    (void)signal;
    append();
}

static void *poke(void *main_thread) {
    pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
    return NULL;
}

int main(void) {
    pthread_t self = pthread_self(), poker;
    sigset_t users;
    signal(SIGUSR1, on_user);
    pthread_create(&poker, NULL, poke, &self);
    sigemptyset(&users);
    sigaddset(&users, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &users, NULL);
    append();
    pthread_sigmask(SIG_UNBLOCK, &users, NULL);
    pthread_join(poker, NULL);
    return 0;
}
