// expect: pass
// flags: -lm
// Rounding modes and vector registers belong to their thread.
#include <assert.h>
#include <fenv.h>
#include <pthread.h>
static int turns;
static void *work(void *arg) {
    int mode = arg ? FE_UPWARD : FE_DOWNWARD;
    fesetround(mode);
    double sum = 0;
    for (int i = 1; i < 6; i++) {
        sum += 1.0 / i;
        __atomic_add_fetch(&turns, 1, __ATOMIC_SEQ_CST);
        assert(fegetround() == mode);
    }
    assert(sum > 2.28 && sum < 2.29);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, &a);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(fegetround() == FE_TONEAREST);
    return 0;
}
