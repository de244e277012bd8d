// expect: pass
// executions: 60
// Whoever waits for signals, or for messages, can be cancelled there.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static sigset_t none, some;

static void *in_pause(void *unused) { return pause(), unused; }
static void *in_sigsuspend(void *unused) { return sigsuspend(&none), unused; }
static void *in_sigwait(void *unused) { int signal; return sigwait(&some, &signal), unused; }
static void *in_sigwaitinfo(void *unused) { return sigwaitinfo(&some, 0), unused; }
static void *in_recvmmsg(void *unused) {
    char text[4];
    struct iovec part = {text, 4};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    return recvmmsg(ends[0], &message, 1, 0, 0), unused;
}
static void *in_sendmmsg(void *unused) {
    static char text[4];
    struct iovec part = {text, 4};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    for (;;) {
        sendmmsg(ends[0], &message, 1, 0);
    }
    return unused;
}
static void *in_waitpid(void *child) { return waitpid((pid_t)(long)child, 0, 0), (void *)0; }

static void cancels(void *(*work)(void *), void *argument) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, work, argument);
    assert(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

int main(void) {
    sigemptyset(&none);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, 0);
    assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    cancels(in_pause, 0);
    cancels(in_sigsuspend, 0);
    cancels(in_sigwait, 0);
    cancels(in_sigwaitinfo, 0);
    cancels(in_recvmmsg, 0);
    cancels(in_sendmmsg, 0);
    pid_t child = fork();
    if (child == 0) {
        for (;;) {
            syscall(SYS_pause);
        }
    }
    cancels(in_waitpid, (void *)(long)child);
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
    return 0;
}
