// expect: pass
// options: --until-idle=0.01 --stall 5
// executions: 10
// uncut
// reaches: ticked
// A server for which nobody comes: one thread waits for connections, and another one has a timer besides.
#include "../reach.h"
#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
static int listening(void) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof here) == 0 && listen(fd, 5) == 0);
    return fd;
}
static void *serve(void *unused) {
    int fd = listening();
    for (;;) accept(fd, 0, 0);
    return unused;
}
int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a;
    struct pollfd ours = {listening(), POLLIN, 0};
    pthread_create(&a, 0, serve, 0);
    for (;;) {
        if (poll(&ours, 1, 3) == 0) reached("ticked");
    }
}
