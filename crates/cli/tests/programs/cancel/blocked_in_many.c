// expect: pass
// os-threads
// Threads blocked in sem_wait, join, read, sleep, poll and sem_timedwait can be cancelled.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static sem_t never;
static int ends[2];
static pthread_t sleeper;
static int cleaned;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void clean(void *unused) {
    pthread_mutex_lock(&lock);
    cleaned++;
    pthread_mutex_unlock(&lock);
}

static void block(int how) {
    char byte;
    struct pollfd one = {ends[0], POLLIN, 0};
    switch (how) {
    case 0: sem_wait(&never); break;
    case 1: pthread_join(sleeper, 0); break;
    case 2: (void)!read(ends[0], &byte, 1); break;
    case 3: poll(&one, 1, -1); break;
    default: for (;;) sleep(1000);
    }
}

static void *work(void *how) {
    pthread_cleanup_push(clean, 0);
    block(*(int *)how);
    pthread_cleanup_pop(0);
    return 0;
}

int main(void) {
    pthread_t t[4];
    int how[5] = {0, 1, 2, 3, 4};
    void *value;
    assert(pipe(ends) == 0);
    sem_init(&never, 0, 0);
    pthread_create(&sleeper, 0, work, &how[4]);
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, &how[i]);
    for (int i = 0; i < 4; i++) assert(pthread_cancel(t[i]) == 0);
    for (int i = 0; i < 4; i++) assert(pthread_join(t[i], &value) == 0 && value == PTHREAD_CANCELED);
    pthread_cancel(sleeper);
    assert(pthread_join(sleeper, &value) == 0 && value == PTHREAD_CANCELED);
    assert(cleaned == 5);
    return 0;
}
