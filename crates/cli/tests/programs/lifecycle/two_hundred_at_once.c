// expect: pass
// executions: 8
// 200 threads alive at the same time, each waiting for all others.
#include <assert.h>
#include <pthread.h>

enum { COUNT = 200 };
static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *work(void *arg) {
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&lock);
    sum += *(int *)arg;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[COUNT];
    int numbers[COUNT];
    pthread_barrier_init(&all, 0, COUNT);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = i;
        assert(pthread_create(&threads[i], 0, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < COUNT; i++) assert(pthread_join(threads[i], 0) == 0);
    assert(sum == COUNT * (COUNT - 1) / 2);
    return 0;
}
