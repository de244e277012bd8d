// expect: assertion
// executions: 500
// The race is on memory that looks private until both threads have come to it.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int *block;
static void *work(void *unused) {
    block[3]++;
    return unused;
}
int main(void) {
    pthread_t a, b;
    block = calloc(8, sizeof *block);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(block[3] == 2);
    free(block);
    return 0;
}
