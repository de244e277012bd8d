// expect: pass
// reaches: serial-a serial-b
// os-threads
// A barrier is used for many rounds; one thread of each round is told so.
#include "../reach.h"
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static int phase[3], serial;

static void *work(void *arg) {
    int me = *(int *)arg;
    for (int round = 1; round <= 3; round++) {
        phase[me] = round;
        int result = pthread_barrier_wait(&barrier);
        for (int other = 0; other < 3; other++) assert(phase[other] == round);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD) {
            reached(me ? "serial-b" : "serial-a");
            serial++;
        } else {
            assert(result == 0);
        }
        pthread_barrier_wait(&barrier);
        assert(serial == round);
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a, b;
    int number[3] = {0, 1, 2};
    pthread_barrier_init(&barrier, 0, 3);
    pthread_create(&a, 0, work, &number[0]);
    pthread_create(&b, 0, work, &number[1]);
    work(&number[2]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(pthread_barrier_destroy(&barrier) == 0);
    return 0;
}
