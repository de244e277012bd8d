// expect: uncontrolled
// message: a system call that changes the identity of one thread
// The C library gives all threads another user; the bare system call only the thread that makes it.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *work(void *unused) {
    syscall(SYS_setresuid, -1, -1, -1);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
}
