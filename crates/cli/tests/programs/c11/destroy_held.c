// expect: pass
// C11 has nothing against destroying a mutex that is held, as long as nobody waits for it.
#include <assert.h>
#include <threads.h>

static mtx_t mutex;

static int work(void *unused) {
    (void)unused;
    assert(mtx_init(&mutex, mtx_plain | mtx_recursive) == thrd_success);
    assert(mtx_lock(&mutex) == thrd_success && mtx_lock(&mutex) == thrd_success);
    mtx_destroy(&mutex);
    assert(mtx_init(&mutex, mtx_plain) == thrd_success);
    assert(mtx_trylock(&mutex) == thrd_success);
    return 0;
}

int main(void) {
    thrd_t t;
    work(0);
    assert(mtx_unlock(&mutex) == thrd_success);
    assert(thrd_create(&t, work, 0) == thrd_success);
    thrd_join(t, 0);
}
