// expect: pass
// Processors that do not exist are refused, whoever asks for them.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>

static void *work(void *unused) { return unused; }

int main(void) {
    pthread_t t;
    pthread_attr_t a;
    cpu_set_t none, mine;
    CPU_ZERO(&none);
    CPU_SET(1023, &none);
    assert(sched_getaffinity(0, sizeof mine, &mine) == 0);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    assert(sched_setaffinity(0, sizeof none, &none) == -1 && errno == EINVAL);
    assert(pthread_setaffinity_np(pthread_self(), sizeof none, &none) == EINVAL);
    pthread_attr_init(&a);
    pthread_attr_setaffinity_np(&a, sizeof none, &none);
    assert(pthread_create(&t, &a, work, 0) == EINVAL);
    assert(sched_setaffinity(0, sizeof mine, &mine) == 0);
    pthread_attr_setaffinity_np(&a, sizeof mine, &mine);
    assert(pthread_create(&t, &a, work, 0) == 0);
    pthread_join(t, 0);
}
