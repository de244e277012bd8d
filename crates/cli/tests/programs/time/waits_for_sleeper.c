// expect: pass
// strategies: random pct pos round-robin auto
// executions: 40
// Threads that wait in a loop for one that sleeps get what they wait for, whether they change something each time or not.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int flag, looks;
static void *reads(void *unused) {
    while (!flag) {}
    return unused;
}
static void *counts(void *unused) {
    while (!flag) looks++;
    return unused;
}
int main(void) {
    pthread_t all[2];
    pthread_create(&all[0], 0, reads, 0);
    pthread_create(&all[1], 0, counts, 0);
    sleep(3600);
    flag = 1;
    for (int i = 0; i < 2; i++) pthread_join(all[i], 0);
    return 0;
}
