// expect: pass
// reaches: a-first b-first
// Who writes first to a pipe is open.
#include "../reach.h"
#include <assert.h>
#include <pthread.h>
static int ends[2];
static void *send(void *letter) {
    assert(write(ends[1], letter, 1) == 1);
    return 0;
}
int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a, b;
    char got[2];
    assert(pipe(ends) == 0);
    pthread_create(&a, 0, send, "a");
    pthread_create(&b, 0, send, "b");
    for (int i = 0; i < 2; i++) assert(read(ends[0], &got[i], 1) == 1);
    assert(got[0] != got[1]);
    reached(got[0] == 'a' ? "a-first" : "b-first");
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
