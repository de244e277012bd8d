// expect: pass
// executions: 25
// os-threads
// fork and waitpid in a thread, system(), popen().
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *forker(void *unused) {
    int status, ends[2];
    char byte;
    assert(pipe(ends) == 0);
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
        (void)!write(ends[1], "x", 1);
        _exit(5);
    }
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
    assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    return unused;
}

static void *counter(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    char line[16];
    pthread_create(&a, 0, forker, 0);
    pthread_create(&b, 0, counter, 0);
    counter(0);
    assert(WEXITSTATUS(system("exit 3")) == 3);
    FILE *out = popen("echo hello", "r");
    assert(out && fgets(line, sizeof line, out) && line[0] == 'h' && pclose(out) == 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(shared == 6);
    return 0;
}
