// expect: pass
// executions: 4
// 3000 threads one after the other: identities and stacks are used again.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static __thread int fresh;
static int sum;

static void *work(void *arg) {
    assert(fresh++ == 0);
    int *block = malloc(sizeof *block);
    *block = 1;
    sum += *block;
    free(block);
    return arg;
}

int main(void) {
    for (int i = 0; i < 3000; i++) {
        pthread_t t;
        void *value;
        assert(pthread_create(&t, 0, work, &sum) == 0);
        assert(pthread_join(t, &value) == 0 && value == &sum);
    }
    assert(sum == 3000);
    return 0;
}
