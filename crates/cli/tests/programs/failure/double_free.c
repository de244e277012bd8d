// expect: use-after-free
// message: double free
// os-threads
#include <pthread.h>
#include <stdlib.h>
static char *block;
static void *drop(void *unused) {
    char *mine = block;
    if (mine) {
        free(mine);
        block = 0;
    }
    return unused;
}
int main(void) {
    pthread_t a, b;
    block = malloc(10);
    pthread_create(&a, 0, drop, 0);
    pthread_create(&b, 0, drop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
