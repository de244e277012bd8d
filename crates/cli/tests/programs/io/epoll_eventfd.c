// expect: pass
// options: --timers loose
// reaches: timeout
// os-threads
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
static int bell, back;
static void *ring(void *unused) {
    uint64_t one = 1, got;
    for (int i = 0; i < 2; i++) {
        assert(write(bell, &one, 8) == 8);
        assert(read(back, &got, 8) == 8);
    }
    assert(eventfd_write(bell, 7) == 0);
    return unused;
}
int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t t;
    bell = eventfd(0, EFD_CLOEXEC);
    back = eventfd(0, EFD_SEMAPHORE);
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = bell}, got;
    assert(epoll_ctl(set, EPOLL_CTL_ADD, bell, &event) == 0);
    pthread_create(&t, 0, ring, 0);
    if (epoll_wait(set, &got, 1, 100) == 0) reached("timeout");
    for (int i = 0; i < 2; i++) {
        uint64_t value;
        assert(epoll_wait(set, &got, 1, -1) == 1 && got.data.fd == bell);
        assert(read(bell, &value, 8) == 8 && value == 1);
        assert(eventfd_write(back, 1) == 0);
    }
    eventfd_t value;
    assert(eventfd_read(bell, &value) == 0 && value == 7);
    pthread_join(t, 0);
    return 0;
}
