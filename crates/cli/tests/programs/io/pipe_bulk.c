// expect: pass
// executions: 60
// os-threads
// More through a pipe than it holds, in both directions of blocking.
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { TOTAL = 200000 };
static int ends[2];

static void *produce(void *unused) {
    static char block[50000];
    memset(block, 'x', sizeof block);
    for (int sent = 0; sent < TOTAL; sent += sizeof block) assert(write(ends[1], block, sizeof block) == sizeof block);
    close(ends[1]);
    return unused;
}

int main(void) {
    pthread_t t;
    char block[30000];
    long got = 0, n;
    assert(pipe(ends) == 0);
    pthread_create(&t, 0, produce, 0);
    while ((n = read(ends[0], block, sizeof block)) > 0) got += n;
    assert(n == 0 && got == TOTAL);
    pthread_join(t, 0);
    return 0;
}
