// What main locked before it created the first thread, it still holds when that runs.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, waited = PTHREAD_MUTEX_INITIALIZER, deep;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER, read_held = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int by_plain, by_waited, by_deep, by_rwlock, by_read_held, by_spin;

static void *work(void *unused) {
    pthread_mutex_lock(&plain);
    by_plain++;
    pthread_mutex_unlock(&plain);
    pthread_mutex_lock(&deep);
    by_deep++;
    pthread_mutex_unlock(&deep);
    pthread_rwlock_wrlock(&rwlock);
    by_rwlock++;
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_wrlock(&read_held);
    by_read_held++;
    pthread_rwlock_unlock(&read_held);
    pthread_spin_lock(&spin);
    by_spin++;
    pthread_spin_unlock(&spin);
    pthread_mutex_lock(&waited);
    by_waited++;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&waited);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&deep, &recursive);
    pthread_spin_init(&spin, 0);
    pthread_mutex_lock(&plain);
    pthread_mutex_lock(&waited);
    pthread_mutex_lock(&deep);
    pthread_mutex_lock(&deep);
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_rdlock(&read_held);
    pthread_spin_lock(&spin);
    pthread_create(&t, 0, work, 0);
    by_plain++;
    pthread_mutex_unlock(&plain);
    pthread_mutex_unlock(&deep);
    by_deep++;
    pthread_mutex_unlock(&deep);
    by_rwlock++;
    pthread_rwlock_unlock(&rwlock);
    int seen = by_read_held;
    assert(seen == by_read_held);
    pthread_rwlock_unlock(&read_held);
    by_spin++;
    pthread_spin_unlock(&spin);
    while (by_waited == 0) pthread_cond_wait(&cond, &waited);
    by_waited++;
    pthread_mutex_unlock(&waited);
    pthread_join(t, 0);
    assert(by_plain == 2 && by_deep == 2 && by_rwlock == 2 && by_spin == 2 && by_waited == 2);
}
