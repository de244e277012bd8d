// expect: uncontrolled
// message: shared between processes
// strategies: random
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static sem_t *sem;
static void *work(void *unused) {
    if (fork() == 0) {
        sem_post(sem);
        _exit(0);
    }
    sem_wait(sem);
    wait(0);
    return unused;
}
int main(void) {
    pthread_t a;
    sem = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(sem, 1, 0);
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
