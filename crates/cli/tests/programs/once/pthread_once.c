// expect: pass
// os-threads
// The routine runs once and has finished for everybody who comes back.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int runs, finished;

static void init(void) {
    runs++;
    finished = 1;
}

static void *work(void *unused) {
    pthread_once(&once, init);
    assert(finished && runs == 1);
    return unused;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
