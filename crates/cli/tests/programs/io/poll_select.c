// expect: pass
// options: --timers loose
// reaches: poll-timeout poll-ready select-timeout
// os-threads
#define _GNU_SOURCE
#include "../reach.h"
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
static int ends[2];
static void *send(void *unused) {
    assert(write(ends[1], "ab", 2) == 2);
    return unused;
}
int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t t;
    char byte;
    assert(pipe(ends) == 0);
    pthread_create(&t, 0, send, 0);
    struct pollfd one = {ends[0], POLLIN, 0};
    int n = poll(&one, 1, 5000);
    reached(n ? "poll-ready" : "poll-timeout");
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval length = {5, 0};
    n = select(ends[0] + 1, &set, 0, 0, &length);
    if (n == 0) reached("select-timeout");
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    assert(select(ends[0] + 1, &set, 0, 0, 0) == 1 && FD_ISSET(ends[0], &set));
    assert(read(ends[0], &byte, 1) == 1);
    assert(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
    struct timespec precise = {1, 0};
    assert(ppoll(&one, 1, &precise, 0) == 1);
    assert(read(ends[0], &byte, 1) == 1);
    assert(poll(&one, 1, 0) == 0);
    pthread_join(t, 0);
    assert(poll(&one, 1, 1000000) == 0);
    return 0;
}
