// expect: pass
// reaches: finished unfinished
// os-threads
// A detached thread may or may not have finished when main returns.
#include "../reach.h"
#include <pthread.h>
#include <stdlib.h>

static int finished;

static void *work(void *unused) {
    finished = 1;
    return unused;
}

static void at_end(void) { reached(finished ? "finished" : "unfinished"); }

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t t;
    atexit(at_end);
    pthread_create(&t, 0, work, 0);
    pthread_detach(t);
    return 0;
}
