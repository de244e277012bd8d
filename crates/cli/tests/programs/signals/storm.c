// expect: pass
// executions: 60
// strategies: all
// os-threads
// Signals from everywhere to everybody, with masks, locks, sleeps and waits in between. What must hold: a lock
// and a mask keep handlers out, nothing queued is lost, and everybody comes to an end.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define THREADS 3
static pthread_t threads[THREADS];
static __thread int guarded[2];
static __thread volatile sig_atomic_t depth;
static int received, sent;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static sem_t ready;

static void handler(int signal, siginfo_t *info, void *unused) {
    int before = errno;
    depth++;
    assert(info->si_signo == signal && guarded[0] == guarded[1]);
    __atomic_add_fetch(&received, 1, __ATOMIC_SEQ_CST);
    if (signal == SIGRTMIN && depth < 3) raise(SIGUSR1);
    depth--;
    errno = before;
}

static void *work(void *number) {
    sigset_t all, before;
    long self = (long)number;
    sigfillset(&all);
    while (sem_wait(&ready) == -1) assert(errno == EINTR);
    for (int i = 0; i < 3; i++) {
        __atomic_add_fetch(&sent, 1, __ATOMIC_SEQ_CST);
        int error = pthread_sigqueue(threads[(self + i) % THREADS], SIGRTMIN, (union sigval){.sival_int = i});
        if (error == ESRCH) __atomic_sub_fetch(&sent, 1, __ATOMIC_SEQ_CST);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        pthread_mutex_lock(&lock);
        guarded[0]++;
        total++;
        guarded[1]++;
        pthread_mutex_unlock(&lock);
        pthread_sigmask(SIG_SETMASK, &before, 0);
        struct timespec moment = {0, 1000};
        nanosleep(&moment, 0);
    }
    assert(depth == 0);
    return 0;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMIN, &action, 0);
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGALRM, &action, 0);
    sem_init(&ready, 0, 0);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)i);
    alarm(1);
    for (int i = 0; i < THREADS; i++) sem_post(&ready);
    for (int i = 0; i < THREADS; i++) assert(pthread_join(threads[i], 0) == 0);
    alarm(0);
    assert(total == 3 * THREADS && sent <= 3 * THREADS);
    return 0;
}
