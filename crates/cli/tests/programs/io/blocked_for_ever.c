// expect: deadlock
// message: descriptor
// options: --stall 5
// A pipe that nobody writes to.
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *work(void *unused) {
    char byte;
    (void)!read(ends[0], &byte, 1);
    return unused;
}
int main(void) {
    pthread_t t;
    if (pipe(ends)) return 1;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}
