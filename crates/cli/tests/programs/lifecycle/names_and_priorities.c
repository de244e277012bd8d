// expect: pass
// Names, processors, priorities and concurrency levels may be asked for and set.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

static int shared;
static void *work(void *unused) {
    char name[16];
    shared++;
    assert(pthread_setname_np(pthread_self(), "worker") == 0);
    assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    cpu_set_t set;
    assert(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0);
    assert(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0);
    int policy;
    struct sched_param param;
    assert(pthread_getschedparam(pthread_self(), &policy, &param) == 0);
    assert(pthread_setschedparam(pthread_self(), policy, &param) == 0);
    return unused;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    pthread_create(&a, 0, work, 0);
    pthread_setname_np(a, "other");
    pthread_join(a, 0);
    return shared == 2 ? 0 : 1;
}
