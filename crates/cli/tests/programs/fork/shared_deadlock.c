// expect: deadlock
// executions: 30
// Before there is another process, a wait for a shared mutex is a wait for a thread.
#include <pthread.h>
#include <sys/mman.h>
static pthread_mutex_t *locks;
static void *work(void *unused) {
    pthread_mutex_lock(&locks[1]);
    pthread_mutex_lock(&locks[0]);
    pthread_mutex_unlock(&locks[0]);
    pthread_mutex_unlock(&locks[1]);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_mutexattr_t mutex;
    locks = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&locks[0], &mutex);
    pthread_mutex_init(&locks[1], &mutex);
    pthread_create(&a, 0, work, 0);
    pthread_mutex_lock(&locks[0]);
    pthread_mutex_lock(&locks[1]);
    pthread_mutex_unlock(&locks[1]);
    pthread_mutex_unlock(&locks[0]);
    pthread_join(a, 0);
    return 0;
}
