// expect: pass
// reaches: outlived
// os-threads
// pthread_exit in main lets the other threads finish; the process ends with status 0.
#include "../reach.h"
#include <pthread.h>

static int main_left;

static void leave(void *unused) { (void)unused; main_left = 1; }

static void *work(void *unused) {
    for (int i = 0; i < 3; i++)
        if (main_left) reached("outlived");
    return unused;
}

static void nested(void) {
    pthread_cleanup_push(leave, 0);
    pthread_exit(0);
    pthread_cleanup_pop(0);
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_detach(t);
    pthread_create(&t, 0, work, 0);
    nested();
    return 3;
}
