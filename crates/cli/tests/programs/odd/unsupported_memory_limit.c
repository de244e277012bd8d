// expect: uncontrolled
// message: a limit of its address space
// The runtime's own memory counts towards the limit, so that a thread may be refused which there would be memory for.
#include <assert.h>
#include <pthread.h>
#include <sys/resource.h>

static void *work(void *unused) { return unused; }

int main(void) {
    struct rlimit limit = {800 << 20, 800 << 20};
    pthread_t t[4];
    pthread_attr_t a;
    assert(setrlimit(RLIMIT_AS, &limit) == 0);
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 16 << 20);
    for (int i = 0; i < 4; i++) assert(pthread_create(&t[i], &a, work, 0) == 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
