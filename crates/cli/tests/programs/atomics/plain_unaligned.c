// expect: assertion
// Unaligned and wide plain accesses, and copies of structures, are steps too.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct __attribute__((packed)) odd {
    char pad;
    long value;
};
static struct odd odd;

static void *work(void *unused) {
    odd.value++;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(odd.value == 2);
    return 0;
}
