// expect: pass
// executions: 50
// An alarm that nobody handles is there for a program that hangs. It never rings.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int shared;
static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        sleep(1);
        __atomic_add_fetch(&shared, 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}
int main(void) {
    pthread_t a;
    alarm(1);
    pthread_create(&a, 0, work, 0);
    work(0);
    pthread_join(a, 0);
    assert(shared == 6);
    return 0;
}
