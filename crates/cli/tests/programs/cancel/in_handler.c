// expect: pass
// executions: 100
// A thread is cancelled while its handler waits.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t in_handler, never;

static void handler(int signal) {
    (void)signal;
    sem_post(&in_handler);
    sem_wait(&never);
}

static void *work(void *unused) {
    for (;;) {
        pause();
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    sem_init(&in_handler, 0, 0);
    sem_init(&never, 0, 0);
    pthread_create(&thread, 0, work, 0);
    pthread_kill(thread, SIGUSR1);
    sem_wait(&in_handler);
    assert(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    return 0;
}
