// expect: pass
// executions: 50
// Handlers around fork run; exit handlers and destructors run in order, under control.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int prepared, parent, order;
static void prepare(void) { prepared++; }
static void in_parent(void) { parent++; }
static void in_child(void) {}
static void second(void) { assert(order++ == 0); }
static void first(void) { assert(order++ == 1); }
static void *work(void *unused) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    int status;
    assert(waitpid(child, &status, 0) == child && status == 0);
    return unused;
}
int main(void) {
    pthread_t a;
    atexit(first);
    atexit(second);
    pthread_atfork(prepare, in_parent, in_child);
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    assert(prepared == 1 && parent == 1);
    exit(0);
}
