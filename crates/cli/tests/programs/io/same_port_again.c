// expect: pass
// executions: 50
// The port of one execution is free in the next, and executions of other jobs do not have it meanwhile.
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
    assert(recv(fd, &got, 1, 0) == 0);
    close(fd);
    return unused;
}

static void *server(void *unused) {
    pthread_t thread;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(47915);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    pthread_create(&thread, 0, client, 0);
    int fd = accept(listener, 0, 0);
    close(fd);
    pthread_join(thread, 0);
    close(listener);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, server, 0);
    pthread_join(thread, 0);
    return 0;
}
