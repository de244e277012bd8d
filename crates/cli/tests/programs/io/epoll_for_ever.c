// expect: deadlock
// message: descriptor
// options: --stall 5
// An epoll set of which nobody will ever make a member ready.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
static int set;
static void *work(void *unused) {
    struct epoll_event event;
    epoll_wait(set, &event, 1, -1);
    return unused;
}
int main(void) {
    pthread_t t;
    set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(set, EPOLL_CTL_ADD, eventfd(0, 0), &event);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}
