// expect: pass
// executions: 60
// os-threads
// A server and two clients over TCP on the loopback device.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address;

static void *client(void *letter) {
    char got;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    assert(send(fd, letter, 1, 0) == 1);
    assert(recv(fd, &got, 1, 0) == 1 && got == *(char *)letter + 1);
    close(fd);
    return 0;
}

int main(void) {
    pthread_t a, b;
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    assert(listen(listener, 8) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    pthread_create(&a, 0, client, "a");
    pthread_create(&b, 0, client, "x");
    for (int i = 0; i < 2; i++) {
        char letter;
        int fd = accept(listener, 0, 0);
        assert(fd >= 0 && recv(fd, &letter, 1, 0) == 1);
        letter++;
        assert(send(fd, &letter, 1, 0) == 1);
        close(fd);
    }
    pthread_join(a, 0);
    pthread_join(b, 0);
    close(listener);
    return 0;
}
