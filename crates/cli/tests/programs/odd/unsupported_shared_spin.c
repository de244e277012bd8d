// expect: uncontrolled
// message: fork() together with spin locks that are shared between processes
// What another process does to an object that is shared with it is beyond control, and not a deadlock.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_spinlock_t *shared;

static void *work(void *unused) { return unused; }

int main(void) {
    pthread_t t;
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_spin_init(shared, PTHREAD_PROCESS_SHARED);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    if (fork() == 0) {
        pthread_spin_lock(shared);
        pthread_spin_unlock(shared);
        _exit(0);
    }
    pthread_spin_lock(shared);
    pthread_spin_unlock(shared);
    wait(0);
}
