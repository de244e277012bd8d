// expect: pass
// executions: 30
// A forked child may use threads of its own; it has only the thread that forked.
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *arg) {
    pthread_mutex_t *mutex = arg;
    pthread_mutex_lock(mutex);
    count++;
    pthread_mutex_unlock(mutex);
    return 0;
}
static void *forker(void *unused) {
    pid_t child = fork();
    if (child == 0) {
        pthread_t a, b;
        pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
        count = 0;
        pthread_create(&a, 0, add, &own);
        pthread_create(&b, 0, add, &own);
        pthread_join(a, 0);
        pthread_join(b, 0);
        _exit(count == 2 ? 0 : 1);
    }
    int status;
    assert(waitpid(child, &status, 0) == child && status == 0);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, &lock);
    pthread_create(&b, 0, forker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
