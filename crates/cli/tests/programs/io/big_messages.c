// expect: pass
// executions: 40
// os-threads
// Large sends and receives over sockets, whole and in parts, block their thread only.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
enum { SIZE = 600000 };
static int ends[2];
static char from[SIZE], to[SIZE];
static void *produce(void *unused) {
    assert(send(ends[0], from, SIZE, MSG_NOSIGNAL) == SIZE);
    struct iovec parts[2] = {{from, SIZE / 2}, {from + SIZE / 2, SIZE / 2}};
    assert(writev(ends[0], parts, 2) == SIZE);
    close(ends[0]);
    return unused;
}
int main(void) {
    pthread_t a;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    for (int i = 0; i < SIZE; i++) from[i] = (char)(i * 7);
    pthread_create(&a, 0, produce, 0);
    assert(recv(ends[1], to, SIZE, MSG_WAITALL) == SIZE);
    assert(to[SIZE - 1] == (char)((SIZE - 1) * 7));
    long got = 0, n;
    while ((n = read(ends[1], to, 10000)) > 0) got += n;
    assert(got == SIZE);
    pthread_join(a, 0);
    return 0;
}
