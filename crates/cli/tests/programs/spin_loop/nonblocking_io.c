// expect: pass
// executions: 40
// strategies: all
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *work(void *unused) {
    char byte;
    while (read(ends[0], &byte, 1) < 0) assert(errno == EAGAIN);
    struct pollfd one = {ends[0], POLLIN, 0};
    while (poll(&one, 1, 0) == 0) {}
    return unused;
}
int main(void) {
    pthread_t a;
    assert(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    pthread_create(&a, 0, work, 0);
    assert(write(ends[1], "a", 1) == 1);
    assert(write(ends[1], "b", 1) == 1);
    pthread_join(a, 0);
    return 0;
}
