// expect: pass
// executions: 20
// Deep, but not too deep: 60,000 frames with a shared step at the bottom.
#include <assert.h>
#include <pthread.h>
static int bottom;
static int deep(int n) {
    if (n == 0) return __atomic_add_fetch(&bottom, 1, __ATOMIC_SEQ_CST);
    return deep(n - 1) > 0;
}
static void *work(void *unused) {
    assert(deep(60000) == 1);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(bottom == 2);
    return 0;
}
