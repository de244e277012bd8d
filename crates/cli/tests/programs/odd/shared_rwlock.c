// expect: pass
// What another process does to an object that is shared with it is awaited like all that comes from outside.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_rwlock_t *shared;

static void *work(void *unused) { return unused; }

int main(void) {
    pthread_t t;
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_rwlockattr_t a;
    pthread_rwlockattr_init(&a);
    pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(shared, &a);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    if (fork() == 0) {
        pthread_rwlock_wrlock(shared);
        pthread_rwlock_unlock(shared);
        _exit(0);
    }
    pthread_rwlock_wrlock(shared);
    pthread_rwlock_unlock(shared);
    wait(0);
}
