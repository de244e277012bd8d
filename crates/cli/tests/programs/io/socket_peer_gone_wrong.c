// expect: deadlock
// executions: 20
// Both ends of a connection wait for the other one to begin.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address;

static void *client(void *unused) {
    char got;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    recv(fd, &got, 1, 0);
    return unused;
}

int main(void) {
    pthread_t thread;
    char got;
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    pthread_create(&thread, 0, client, 0);
    int fd = accept(listener, 0, 0);
    recv(fd, &got, 1, 0);
    pthread_join(thread, 0);
    return 0;
}
