// expect: pass
// os-threads
// longjmp across functions, with switches before and after; ucontext would need more.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
static __thread jmp_buf back;
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void deep(int n) {
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    if (n == 0) longjmp(back, 7);
    deep(n - 1);
}
static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        int code = setjmp(back);
        if (code == 0) deep(3);
        assert(code == 7);
    }
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(shared == 24);
    return 0;
}
