// expect: pass
// reaches: busy timeout
// os-threads
// Every function of <threads.h>.
#include "../reach.h"
#include <assert.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static mtx_t plain, timed, again;
static cnd_t cond;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static thread_local int own;
static int runs, ready, freed;

static void init(void) { runs++; }
static void release(void *block) {
    mtx_lock(&plain);
    freed++;
    mtx_unlock(&plain);
    free(block);
}

static int work(void *arg) {
    call_once(&once, init);
    own++;
    assert(tss_set(key, malloc(4)) == thrd_success && tss_get(key));
    if (mtx_trylock(&plain) == thrd_busy) {
        reached("busy");
        assert(mtx_lock(&plain) == thrd_success);
    }
    ready++;
    assert(cnd_broadcast(&cond) == thrd_success);
    mtx_unlock(&plain);
    thrd_yield();
    mtx_lock(&again);
    mtx_lock(&again);
    mtx_unlock(&again);
    mtx_unlock(&again);
    struct timespec length = {1000, 0};
    assert(thrd_sleep(&length, 0) == 0);
    if (arg) thrd_exit(5);
    return 6;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    thrd_t a, b, c;
    int ra, rb;
    struct timespec until;
    assert(mtx_init(&plain, mtx_plain) == thrd_success && mtx_init(&timed, mtx_timed) == thrd_success);
    assert(mtx_init(&again, mtx_plain | mtx_recursive) == thrd_success && cnd_init(&cond) == thrd_success);
    assert(tss_create(&key, release) == thrd_success);
    assert(thrd_create(&a, work, &ra) == thrd_success);
    assert(thrd_create(&b, work, 0) == thrd_success);
    mtx_lock(&plain);
    while (ready < 2) assert(cnd_wait(&cond, &plain) == thrd_success);
    timespec_get(&until, TIME_UTC);
    until.tv_sec++;
    int result = cnd_timedwait(&cond, &plain, &until);
    assert(result == thrd_timedout || result == thrd_success);
    if (result == thrd_timedout) reached("timeout");
    mtx_unlock(&plain);
    assert(mtx_timedlock(&timed, &until) == thrd_success);
    mtx_unlock(&timed);
    assert(thrd_join(a, &ra) == thrd_success && thrd_join(b, &rb) == thrd_success);
    assert(ra == 5 && rb == 6 && runs == 1 && own == 0 && freed == 2);
    assert(thrd_equal(thrd_current(), thrd_current()));
    cnd_signal(&cond);
    thrd_create(&c, work, 0);
    thrd_detach(c);
    if (argc > 2) {
        mtx_destroy(&plain);
        cnd_destroy(&cond);
        tss_delete(key);
    }
    thrd_exit(0);
}
