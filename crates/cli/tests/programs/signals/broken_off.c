// expect: pass
// options: --timers loose
// reaches: semaphore sleep pipe poll wait restarted
// os-threads
// A handler makes calls that wait end early, unless it was registered to restart them; locks, joins and condition
// variables never do.
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static sem_t semaphore, restarted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static int ends[2], told;
static volatile sig_atomic_t handled;

static void handler(int signal) { handled++; }

static void *main_of(void *target) {
    pthread_t thread = *(pthread_t *)target;
    pthread_kill(thread, SIGUSR1);
    sem_post(&semaphore);
    pthread_kill(thread, SIGUSR1);
    assert(write(ends[1], "x", 1) == 1);
    pthread_kill(thread, SIGUSR1);
    assert(write(ends[1], "y", 1) == 1);
    pthread_kill(thread, SIGUSR1);
    pthread_mutex_lock(&lock);
    told = 1;
    pthread_cond_signal(&bell);
    pthread_mutex_unlock(&lock);
    pthread_kill(thread, SIGUSR2);
    sem_post(&restarted);
    return 0;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t self = pthread_self(), other;
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, 0);
    sem_init(&semaphore, 0, 0);
    sem_init(&restarted, 0, 0);
    assert(pipe(ends) == 0);
    pthread_create(&other, 0, main_of, &self);
    while (sem_wait(&semaphore) == -1) {
        assert(errno == EINTR);
        reached("semaphore");
    }
    struct timespec rest = {10, 0};
    while (nanosleep(&rest, &rest) == -1) {
        assert(errno == EINTR && rest.tv_sec <= 10);
        reached("sleep");
    }
    struct pollfd polled = {.fd = ends[0], .events = POLLIN};
    while (poll(&polled, 1, -1) == -1) {
        assert(errno == EINTR);
        reached("poll");
    }
    char bytes[2];
    for (int i = 0; i < 2; i++) {
        while (read(ends[0], &bytes[i], 1) == -1) {
            assert(errno == EINTR);
            reached("pipe");
        }
    }
    int before = handled;
    pthread_mutex_lock(&lock);
    while (!told) assert(pthread_cond_wait(&bell, &lock) == 0);
    pthread_mutex_unlock(&lock);
    if (handled > before) reached("wait");
    before = handled;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    assert(sem_wait(&restarted) == 0);
    if (handled > before) reached("restarted");
    assert(pthread_join(other, 0) == 0);
    return 0;
}
