// expect: pass
// executions: 3
// strategies: random
// options: --timers ordered
// A wait that gives up after twenty seconds does not do so while others are at work, however many steps that takes; and who sleeps
// for a second meanwhile wakes up.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 100000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int is_done, limit_came;
static atomic_int rounds, is_awake;

static void *wait_long(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&lock);
    while (!is_done && !limit_came) limit_came = pthread_cond_timedwait(&cond, &lock, &until);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *sleep_short(void *unused) {
    sleep(1);
    is_awake = 1;
    return unused;
}

static void *work(void *unused) {
    for (int i = 0; i < ROUNDS || !is_awake; i++) rounds++;
    return unused;
}

int main(void) {
    pthread_t waiter, sleeper, one, other;
    pthread_create(&waiter, 0, wait_long, 0);
    pthread_create(&sleeper, 0, sleep_short, 0);
    pthread_create(&one, 0, work, 0);
    pthread_create(&other, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    pthread_mutex_lock(&lock);
    is_done = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&lock);
    pthread_join(waiter, 0);
    pthread_join(sleeper, 0);
    assert(!limit_came);
}
