// expect: pass
// uncut
// executions: 30
// A semaphore, a mutex, a read-write lock and a barrier that the process and its copy share.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static struct {
    sem_t sem, back;
    pthread_mutex_t mutex;
    pthread_rwlock_t lock;
    pthread_barrier_t barrier;
    int count, written, seen;
} *all;
static void init(void) {
    pthread_mutexattr_t mutex;
    pthread_rwlockattr_t lock;
    pthread_barrierattr_t barrier;
    all = mmap(0, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(&all->sem, 1, 0);
    sem_init(&all->back, 1, 0);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&all->mutex, &mutex);
    pthread_rwlockattr_init(&lock);
    pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&all->lock, &lock);
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&all->barrier, &barrier, 2);
}
static void both(void) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&all->mutex);
        all->count++;
        pthread_mutex_unlock(&all->mutex);
        pthread_rwlock_wrlock(&all->lock);
        all->written++;
        pthread_rwlock_unlock(&all->lock);
        pthread_rwlock_rdlock(&all->lock);
        assert(all->written > i);
        pthread_rwlock_unlock(&all->lock);
        pthread_barrier_wait(&all->barrier);
    }
    assert(all->count == 40 && all->written == 40);
}
static void *work(void *unused) {
    int status;
    pthread_mutex_lock(&all->mutex);
    if (fork() == 0) {
        // The lock is the original's.
        sem_post(&all->sem);
        both();
        sem_wait(&all->back);
        _exit(0);
    }
    sem_wait(&all->sem);
    pthread_mutex_unlock(&all->mutex);
    both();
    sem_post(&all->back);
    assert(wait(&status) > 0 && status == 0);
    return unused;
}
static void *other(void *unused) {
    pthread_mutex_lock(&all->mutex);
    all->seen++;
    pthread_mutex_unlock(&all->mutex);
    return unused;
}
int main(void) {
    pthread_t a, b;
    init();
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(all->seen == 1);
    return 0;
}
