// A signal to the process is handled by whoever lets it through: here that may be the thread that counts, too.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int total;

static void on_user(int signal) {
    (void)signal;
    total++;
}

static void *count(void *unused) {
    total++;
    return unused;
}

int main(void) {
    pthread_t counter;
    sigset_t users, pending;
    signal(SIGUSR1, on_user);
    sigemptyset(&users);
    sigaddset(&users, SIGUSR1);
    pthread_create(&counter, NULL, count, NULL);
    kill(getpid(), SIGUSR1);
    pthread_join(counter, NULL);
    pthread_sigmask(SIG_BLOCK, &users, NULL);
    sigpending(&pending);
    if (!sigismember(&pending, SIGUSR1)) assert(total == 2);
    return 0;
}
