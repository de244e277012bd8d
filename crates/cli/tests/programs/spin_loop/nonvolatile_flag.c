// expect: pass
// executions: 40
// strategies: all
// The flag is not even volatile; several threads wait for it.
#include <pthread.h>
static int flag, ready[3];
static void *work(void *arg) {
    long me = (long)arg;
    while (!flag)
        ;
    ready[me] = 1;
    return 0;
}
int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)i);
    flag = 1;
    for (int i = 0; i < 3; i++)
        while (!ready[i])
            ;
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
