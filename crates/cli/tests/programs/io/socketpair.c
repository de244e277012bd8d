// expect: pass
// os-threads
// A conversation over a pair of sockets, with send, recv, messages and shutdown.
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2];

static void *answer(void *unused) {
    char text[16];
    long n;
    while ((n = recv(ends[1], text, sizeof text, 0)) > 0) assert(send(ends[1], text, n, MSG_NOSIGNAL) == n);
    assert(n == 0);
    close(ends[1]);
    return unused;
}

int main(void) {
    pthread_t t;
    char text[16];
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pthread_create(&t, 0, answer, 0);
    assert(write(ends[0], "hello", 5) == 5);
    assert(recv(ends[0], text, 5, MSG_WAITALL) == 5 && memcmp(text, "hello", 5) == 0);
    struct iovec parts[2] = {{"ab", 2}, {"cd", 2}};
    assert(writev(ends[0], parts, 2) == 4);
    struct iovec into[2] = {{text, 2}, {text + 2, 2}};
    long got = 0;
    while (got < 4) {
        long n = readv(ends[0], into, 2);
        assert(n > 0);
        got += n;
    }
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    assert(sendmsg(ends[0], &message, 0) == 4);
    shutdown(ends[0], SHUT_WR);
    got = 0;
    long n;
    while ((n = read(ends[0], text, sizeof text)) > 0) got += n;
    assert(got == 4);
    pthread_join(t, 0);
    close(ends[0]);
    return 0;
}
