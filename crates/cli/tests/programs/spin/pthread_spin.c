// expect: pass
// reaches: busy
// strategies: all
// os-threads
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_spinlock_t locks[2];
static int inside;

static void *work(void *unused) {
    for (int i = 0; i < 2; i++) {
        if (pthread_spin_trylock(&locks[1]) == EBUSY) {
            reached("busy");
            pthread_spin_lock(&locks[1]);
        }
        assert(inside++ == 0);
        inside--;
        pthread_spin_unlock(&locks[1]);
    }
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a;
    pthread_spin_init(&locks[0], PTHREAD_PROCESS_PRIVATE);
    pthread_spin_init(&locks[1], PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, 0, work, 0);
    pthread_spin_lock(&locks[0]);
    work(0);
    pthread_spin_unlock(&locks[0]);
    pthread_join(a, 0);
    pthread_spin_destroy(&locks[0]);
    pthread_spin_destroy(&locks[1]);
    return 0;
}
