// expect: pass
// executions: 100
// Locks on files order threads of one process, if each has opened the file by itself.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

static int counter;

static void *work(void *unused) {
    int fd = open("lock", O_RDWR | O_CREAT, 0600);
    assert(fd >= 0 && flock(fd, LOCK_EX) == 0);
    int seen = counter;
    int other = open("lock", O_RDWR);
    assert(flock(other, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK);
    close(other);
    counter = seen + 1;
    assert(flock(fd, LOCK_UN) == 0);
    close(fd);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
