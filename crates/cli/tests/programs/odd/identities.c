// expect: pass
// executions: 30
// The identities of the process are set with threads running, and hold for all of them.
#define _GNU_SOURCE
#include <assert.h>
#include <grp.h>
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static uid_t user;

static void *work(void *unused) {
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    assert(geteuid() == user && getuid() == user);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, work, 0);
    pthread_barrier_wait(&barrier);
    user = getuid();
    gid_t group = getgid();
    assert(setegid(group) == 0 && setgid(group) == 0 && setregid(group, group) == 0 && setresgid(group, group, group) == 0);
    assert(seteuid(user) == 0 && setuid(user) == 0 && setreuid(user, user) == 0 && setresuid(user, user, user) == 0);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, 0);
    return 0;
}
