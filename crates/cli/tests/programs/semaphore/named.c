// expect: pass
// os-threads
// Named semaphores, opened twice under one name, unlinked while open.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

static int inside;

static void *work(void *unused) {
    sem_t *sem = sem_open("/threadbare-test", 0);
    assert(sem != SEM_FAILED);
    for (int i = 0; i < 2; i++) {
        sem_wait(sem);
        assert(inside++ == 0);
        inside--;
        sem_post(sem);
    }
    sem_close(sem);
    return unused;
}

int main(void) {
    pthread_t a, b;
    sem_unlink("/threadbare-test");
    assert(sem_open("/threadbare-test", 0) == SEM_FAILED && errno == ENOENT);
    sem_t *sem = sem_open("/threadbare-test", O_CREAT | O_EXCL, 0600, 1);
    assert(sem != SEM_FAILED);
    assert(sem_open("/threadbare-test", O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED && errno == EEXIST);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(sem_unlink("/threadbare-test") == 0);
    sem_wait(sem);
    sem_post(sem);
    assert(sem_close(sem) == 0);
    return 0;
}
