// One thread computes for long and looks at a shared value all the time, while all others wait for
// it: nobody changes anything that another sees, and yet it is no livelock.
#include <assert.h>
#include <pthread.h>

static int factor;
static long sum;

static void *compute(void *unused) {
    long own = 0;
    for (int i = 0; i < 60000; i++) {
        own += factor;
    }
    sum = own;
    return unused;
}

static void *set(void *unused) {
    factor = 3;
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&other, NULL, set, NULL);
    pthread_join(other, NULL);
    pthread_create(&one, NULL, compute, NULL);
    pthread_join(one, NULL);
    assert(sum == 180000);
}
