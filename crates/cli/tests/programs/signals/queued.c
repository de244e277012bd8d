// expect: pass
// reaches: two one
// os-threads
// Signals of real time are queued and come in order, with their values; of others only one waits.
#define _GNU_SOURCE
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static int values[8], count;
static volatile sig_atomic_t plain;

static void queued(int signal, siginfo_t *info, void *unused) {
    assert(info->si_code == SI_QUEUE && info->si_pid == getpid());
    values[count++] = info->si_value.sival_int;
}

static void counted(int signal) { plain++; }

static void *send(void *target) {
    pthread_t thread = *(pthread_t *)target;
    for (int i = 0; i < 3; i++) assert(pthread_sigqueue(thread, SIGRTMIN + 1, (union sigval){.sival_int = i}) == 0);
    pthread_kill(thread, SIGUSR1);
    pthread_kill(thread, SIGUSR1);
    return 0;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t self = pthread_self(), other;
    sigset_t set;
    struct sigaction action = {.sa_sigaction = queued, .sa_flags = SA_SIGINFO};
    sigaction(SIGRTMIN + 1, &action, 0);
    signal(SIGUSR1, counted);
    pthread_create(&other, 0, send, &self);
    pthread_join(other, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    for (int i = 0; i < count; i++) assert(values[i] == i);
    struct timespec none = {0, 0};
    siginfo_t info;
    int left = 0;
    while (sigtimedwait(&set, &info, &none) > 0) {
        if (info.si_signo == SIGUSR1) plain++;
        else assert(info.si_value.sival_int == count + left++);
    }
    reached(plain == 2 ? "two" : plain == 1 ? "one" : "none");
    return 0;
}
