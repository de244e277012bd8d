// expect: uncontrolled
// message: futex
// strategies: random
// A futex operation that is not controlled is named.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int word;
static void *work(void *unused) {
    syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, 0, 0, 0);
    return unused;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
