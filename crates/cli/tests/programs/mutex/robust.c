// expect: pass
// reaches: orphan first
// os-threads
// A robust mutex tells the next owner that the last one died.
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock, broken;

static void *die_with_it(void *unused) {
    assert(pthread_mutex_lock(&lock) == 0 || 1);
    pthread_mutex_lock(&broken);
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t t;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attr);
    pthread_mutex_init(&broken, &attr);
    pthread_create(&t, 0, die_with_it, 0);
    int error = pthread_mutex_lock(&lock);
    if (error == 0) {
        reached("first");
        pthread_mutex_unlock(&lock);
    } else {
        assert(error == EOWNERDEAD);
        reached("orphan");
        assert(pthread_mutex_consistent(&lock) == 0);
        assert(pthread_mutex_unlock(&lock) == 0);
        assert(pthread_mutex_lock(&lock) == 0);
        assert(pthread_mutex_unlock(&lock) == 0);
    }
    pthread_join(t, 0);
    assert(pthread_mutex_trylock(&broken) == EOWNERDEAD);
    assert(pthread_mutex_unlock(&broken) == 0);
    assert(pthread_mutex_lock(&broken) == ENOTRECOVERABLE);
    return 0;
}
