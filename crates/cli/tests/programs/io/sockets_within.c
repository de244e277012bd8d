// expect: pass
// executions: 60
// TCP, UDP and Unix sockets between threads: what one sends orders what the other reads, whoever waits in whichever way.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_in tcp, udp;
static struct sockaddr_un local;
static socklen_t local_length;
static int tcp_listener, local_listener, datagrams, done[2];
static int plain[3];

static void wait_by_epoll(int fd, int events) {
    struct epoll_event event = {.events = events | EPOLLET};
    int set = epoll_create1(0), copy = fcntl(set, F_DUPFD_CLOEXEC, 0);
    assert(set >= 0 && copy >= 0 && epoll_ctl(copy, EPOLL_CTL_ADD, fd, &event) == 0);
    assert(epoll_wait(set, &event, 1, -1) == 1);
    close(copy);
    close(set);
}

/// Without blocking, by epoll.
static void *tcp_client(void *unused) {
    char got[3];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(fd, (struct sockaddr *)&tcp, sizeof tcp) < 0) {
        assert(errno == EINPROGRESS);
        wait_by_epoll(fd, EPOLLOUT);
    }
    plain[0] = 1;
    assert(send(fd, "tcp", 3, 0) == 3);
    shutdown(fd, SHUT_WR);
    for (int all = 0; all < 3;) {
        ssize_t n = recv(fd, got + all, 3 - all, 0);
        if (n < 0) {
            assert(errno == EAGAIN);
            wait_by_epoll(fd, EPOLLIN);
        } else {
            assert(n > 0);
            all += n;
        }
    }
    assert(memcmp(got, "TCP", 3) == 0);
    close(fd);
    return unused;
}

static void *tcp_server(void *unused) {
    char got[4];
    struct pollfd waits = {tcp_listener, POLLIN, 0};
    assert(poll(&waits, 1, -1) == 1);
    int fd = accept(tcp_listener, 0, 0);
    assert(fd >= 0 && recv(fd, got, 3, MSG_WAITALL) == 3 && memcmp(got, "tcp", 3) == 0);
    assert(plain[0] == 1 && recv(fd, got, 1, 0) == 0);
    assert(send(fd, "TCP", 3, 0) == 3);
    close(fd);
    return unused;
}

static void *local_client(void *unused) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert(connect(fd, (struct sockaddr *)&local, local_length) == 0);
    plain[1] = 1;
    assert(write(fd, "unix", 4) == 4);
    close(fd);
    return unused;
}

static void *local_server(void *unused) {
    char got[8];
    fd_set set;
    FD_ZERO(&set);
    FD_SET(local_listener, &set);
    assert(select(local_listener + 1, &set, 0, 0, 0) == 1);
    int fd = accept4(local_listener, 0, 0, SOCK_CLOEXEC);
    assert(fd >= 0 && read(fd, got, 4) == 4 && memcmp(got, "unix", 4) == 0 && plain[1] == 1);
    assert(read(fd, got, 4) == 0);
    close(fd);
    plain[2] = 1;
    int sender = socket(AF_INET, SOCK_DGRAM, 0);
    assert(sendto(sender, "udp", 3, 0, (struct sockaddr *)&udp, sizeof udp) == 3);
    close(sender);
    return unused;
}

int main(void) {
    socklen_t length = sizeof tcp;
    tcp.sin_family = udp.sin_family = AF_INET;
    tcp.sin_addr.s_addr = udp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    tcp_listener = socket(AF_INET, SOCK_STREAM, 0);
    assert(bind(tcp_listener, (struct sockaddr *)&tcp, sizeof tcp) == 0 && listen(tcp_listener, 4) == 0);
    assert(getsockname(tcp_listener, (struct sockaddr *)&tcp, &length) == 0);
    datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    assert(bind(datagrams, (struct sockaddr *)&udp, sizeof udp) == 0);
    assert(getsockname(datagrams, (struct sockaddr *)&udp, &length) == 0);

    pthread_t threads[4];
    pthread_create(&threads[0], 0, tcp_client, 0);
    pthread_create(&threads[1], 0, tcp_server, 0);
    // A name of the file system, made anew in every execution.
    local.sun_family = AF_UNIX;
    strcpy(local.sun_path, "socket");
    local_length = sizeof local;
    local_listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert(bind(local_listener, (struct sockaddr *)&local, local_length) == 0 && listen(local_listener, 4) == 0);
    pthread_create(&threads[2], 0, local_client, 0);
    pthread_create(&threads[3], 0, local_server, 0);
    char got[8];
    assert(recv(datagrams, got, sizeof got, 0) == 3 && memcmp(got, "udp", 3) == 0 && plain[2] == 1);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], 0);
    }
    return 0;
}
