// expect: pass
// most-steps: 200
// executions: 20
// A million private accesses and ten shared ones.
#include <pthread.h>
#include <stdlib.h>
static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    int local[64] = {0}, *heap = malloc(1000 * sizeof *heap);
    for (int round = 0; round < 100; round++)
        for (int i = 0; i < 1000; i++) {
            heap[i] = round + i;
            local[i % 64] += heap[i];
        }
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        total += local[i];
        pthread_mutex_unlock(&lock);
    }
    free(heap);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return total == 0;
}
