// expect: pass
// executions: 60
// os-threads
// Small, big and own stacks, and a frame that only fits into the big one.
#define _GNU_SOURCE
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char own[1 << 18] __attribute__((aligned(4096)));
static int inside_own, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void finish(void) {
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
}

static void *small(void *unused) { finish(); return unused; }

static void *big(void *unused) {
    char space[24 << 20];
    for (size_t i = 0; i < sizeof space; i += 1 << 20) ((volatile char *)space)[i] = 1;
    finish();
    return unused;
}

static void *placed(void *unused) {
    char local;
    inside_own = &local >= own && &local < own + sizeof own;
    pthread_attr_t attr;
    void *low;
    size_t size;
    assert(pthread_getattr_np(pthread_self(), &attr) == 0);
    assert(pthread_attr_getstack(&attr, &low, &size) == 0);
    assert((char *)low >= own && (char *)low + size <= own + sizeof own);
    pthread_attr_destroy(&attr);
    finish();
    return unused;
}

int main(void) {
    pthread_t t[4];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    assert(pthread_attr_setstacksize(&attr, 65536) == 0);
    assert(pthread_create(&t[0], &attr, small, 0) == 0);
    assert(pthread_attr_setstacksize(&attr, 32 << 20) == 0);
    assert(pthread_create(&t[1], &attr, big, 0) == 0);
    assert(pthread_attr_setstack(&attr, own, sizeof own) == 0);
    assert(pthread_create(&t[2], &attr, placed, 0) == 0);
    pthread_attr_destroy(&attr);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setguardsize(&attr, 8192);
    assert(pthread_create(&t[3], &attr, small, 0) == 0);
    for (int i = 0; i < 3; i++) assert(pthread_join(t[i], 0) == 0);
    assert(inside_own);
    pthread_exit(0);
}
