// As any_thread, but the counting thread is the only one that lets the signal through, when it is done.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int total;
static sigset_t users;

static void on_user(int signal) {
    (void)signal;
    total++;
}

static void *count(void *unused) {
    total++;
    pthread_sigmask(SIG_UNBLOCK, &users, NULL);
    return unused;
}

int main(void) {
    pthread_t counter;
    signal(SIGUSR1, on_user);
    sigemptyset(&users);
    sigaddset(&users, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &users, NULL);
    pthread_create(&counter, NULL, count, NULL);
    pthread_kill(counter, SIGUSR1);
    pthread_join(counter, NULL);
    assert(total == 1 || total == 2);
    return 0;
}
