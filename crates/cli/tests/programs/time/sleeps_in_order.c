// expect: pass
// options: --timers ordered
// strategies: random pct pos surw round-robin auto
// executions: 60
// os-threads
// Sleeps and waits end in the order of their deadlines, and not while a thread has something to do.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static int order, work, told;
static void *after(void *milliseconds) {
    long length = (long)milliseconds;
    usleep(length * 1000);
    pthread_mutex_lock(&lock);
    assert(order < length);
    order = length;
    pthread_mutex_unlock(&lock);
    return 0;
}
static void *worker(void *unused) {
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&lock);
        work++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
static void *teller(void *unused) {
    usleep(20000);
    pthread_mutex_lock(&lock);
    told = 1;
    pthread_cond_signal(&bell);
    pthread_mutex_unlock(&lock);
    return unused;
}
static int wait_until(long milliseconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += milliseconds % 1000 * 1000000;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int result = 0;
    pthread_mutex_lock(&lock);
    while (!told && result == 0) result = pthread_cond_timedwait(&bell, &lock, &until);
    pthread_mutex_unlock(&lock);
    return result;
}
int main(void) {
    pthread_t all[5];
    pthread_create(&all[0], 0, after, (void *)30);
    pthread_create(&all[1], 0, after, (void *)10);
    pthread_create(&all[2], 0, worker, 0);
    pthread_create(&all[3], 0, after, (void *)25);
    pthread_create(&all[4], 0, teller, 0);
    assert(wait_until(5) == ETIMEDOUT);
    assert(work == 500 && order == 0);
    assert(wait_until(3600000) == 0);
    usleep(6000);
    assert(order == 25);
    for (int i = 0; i < 5; i++) pthread_join(all[i], 0);
    return 0;
}
