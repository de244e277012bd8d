// expect: pass
// What one execution leaves in a pipe, a counter or a backlog is not there in the next; what was
// there before the first thread is.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
static int ends[2], pair[2], counter, set, listener;
static struct sockaddr_in address;
static void *work(void *unused) {
    int n;
    eventfd_t value;
    struct epoll_event event;
    struct pollfd waiting = {listener, POLLIN, 0};
    assert(ioctl(ends[0], FIONREAD, &n) == 0 && n == 3);
    assert(ioctl(pair[1], FIONREAD, &n) == 0 && n == 2);
    assert(epoll_wait(set, &event, 1, 0) == 1 && event.data.u32 == 77);
    assert(eventfd_read(counter, &value) == 0 && value == 5);
    assert(poll(&waiting, 1, 0) == 0);
    assert(write(ends[1], "more", 4) == 4 && write(pair[0], "more", 4) == 4);
    assert(eventfd_write(counter, 9) == 0);
    n = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(n, (struct sockaddr *)&address, sizeof address) == 0);
    return unused;
}
int main(void) {
    pthread_t a;
    socklen_t length = sizeof address;
    assert(pipe(ends) == 0 && write(ends[1], "abc", 3) == 3);
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && write(pair[0], "de", 2) == 2);
    counter = eventfd(5, 0);
    set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 77};
    assert(epoll_ctl(set, EPOLL_CTL_ADD, counter, &event) == 0);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 8) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
