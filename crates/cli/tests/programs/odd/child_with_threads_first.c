// expect: pass
// executions: 30
// A process that the program makes before its first thread has threads of its own.
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    sum++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void two_threads(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(sum == 2);
}

int main(void) {
    int status;
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        two_threads();
        _exit(7);
    }
    assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    two_threads();
    return 0;
}
