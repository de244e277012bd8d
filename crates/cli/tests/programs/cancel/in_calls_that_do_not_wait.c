// expect: pass
// A call that may wait is a cancellation point although it need not wait, or fails; and so is one that prints.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2], go[2], cleaned;

static void clean(void *unused) {
    (void)unused;
    cleaned++;
}

static void *reads_closed(void *unused) {
    char byte;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
    read(go[0], &byte, 1);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0);
    read(ends[0], &byte, 1);
    return unused;
}

static void *writes_file(void *unused) {
    int file = open("/dev/null", O_WRONLY);
    for (;;) write(file, "x", 1);
    return unused;
}

static void *prints(void *unused) {
    FILE *file = fopen("/dev/null", "w");
    pthread_cleanup_push(clean, 0);
    for (;;) fprintf(file, "something");
    pthread_cleanup_pop(0);
    return unused;
}

static void cancel_and_join(pthread_t t) {
    void *value;
    pthread_cancel(t);
    pthread_join(t, &value);
    assert(value == PTHREAD_CANCELED);
}

int main(void) {
    pthread_t t;
    void *value;
    pipe(ends);
    pipe(go);
    pthread_create(&t, 0, reads_closed, 0);
    pthread_cancel(t);
    close(ends[0]);
    write(go[1], "x", 1);
    pthread_join(t, &value);
    assert(value == PTHREAD_CANCELED);
    pthread_create(&t, 0, writes_file, 0);
    cancel_and_join(t);
    pthread_create(&t, 0, prints, 0);
    sleep(1);
    cancel_and_join(t);
    assert(cleaned == 1);
}
