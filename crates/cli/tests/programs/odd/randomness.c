// expect: pass
// Random numbers are the same in every run, so an execution can be repeated.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
static int shared;
static void *work(void *unused) {
    unsigned char bytes[16];
    assert(getrandom(bytes, sizeof bytes, 0) == 16 && getentropy(bytes, 16) == 0);
    shared += rand() % 2 + (int)random() % 2;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
