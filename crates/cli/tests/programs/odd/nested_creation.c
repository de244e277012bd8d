// expect: pass
// os-threads
// Threads that create threads, joined by others than their creators.
#include <assert.h>
#include <pthread.h>
static pthread_t grandchildren[2];
static int count;
static void *leaf(void *unused) {
    __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
    return unused;
}
static void *child(void *arg) {
    assert(pthread_create(&grandchildren[(long)arg], 0, leaf, 0) == 0);
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, child, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    for (int i = 0; i < 2; i++) pthread_join(grandchildren[i], 0);
    assert(count == 2);
    return 0;
}
