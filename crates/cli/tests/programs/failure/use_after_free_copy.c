// expect: use-after-free
// message: read of
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static int *block, sum, into[3];
static void *use(void *unused) {
    memcpy(into, block, 12);
    return unused;
}
int main(void) {
    pthread_t a;
    block = calloc(3, sizeof *block);
    pthread_create(&a, 0, use, 0);
    free(block);
    pthread_join(a, 0);
    return sum + into[0];
}
