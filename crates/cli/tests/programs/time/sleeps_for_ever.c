// expect: hang
// message: only spins
// executions: 5
// Threads that sleep and look again, at what nobody is left to change.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int flag;
static void *polls(void *unused) {
    while (!flag) usleep(1000);
    return unused;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, polls, 0);
    while (!flag) usleep(3000);
    pthread_join(other, 0);
    return 0;
}
