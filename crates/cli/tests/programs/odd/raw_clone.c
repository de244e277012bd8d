// expect: uncontrolled
// message: clone
// strategies: random
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
static int run(void *unused) { return 0; }
static void *work(void *unused) {
    char *stack = malloc(65536);
    clone(run, stack + 65536, CLONE_VM, 0);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
