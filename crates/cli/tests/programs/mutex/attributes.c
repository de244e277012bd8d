// expect: pass
// Priority protocols and process sharing are accepted; mutexes in reused memory start afresh.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *work(void *arg) {
    pthread_mutex_t *m = arg;
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    return 0;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        pthread_mutexattr_t attr;
        pthread_mutexattr_init(&attr);
        pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
        pthread_mutexattr_settype(&attr, i);
        pthread_mutex_t *m = malloc(sizeof *m);
        assert(pthread_mutex_init(m, &attr) == 0);
        pthread_t t;
        pthread_create(&t, 0, work, m);
        work(m);
        pthread_join(t, 0);
        pthread_mutex_destroy(m);
        free(m);
    }
    return 0;
}
