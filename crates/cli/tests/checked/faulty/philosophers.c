// Each takes the left stick first.
// finds: deadlock sticks[0] 10 11
#include <pthread.h>
#include <stdint.h>
#define N 4
static pthread_mutex_t sticks[N];
static void *eat(void *p)
{
    int i = (int)(intptr_t)p;
    pthread_mutex_lock(&sticks[i]);
    pthread_mutex_lock(&sticks[(i + 1) % N]);
    pthread_mutex_unlock(&sticks[(i + 1) % N]);
    pthread_mutex_unlock(&sticks[i]);
    return 0;
}
int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_mutex_init(&sticks[i], 0);
    for (int i = 0; i < N; i++) pthread_create(&t[i], 0, eat, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    return 0;
}
