// The sum is made before all parts are there.
// cause: part[] 10 13
#include <assert.h>
#include <pthread.h>
enum { N = 3 };
static int part[N], total;
static void *work(void *p)
{
    long me = (long)p;
    part[me] = 5;
    if (me == 0) {
        for (int i = 0; i < N; i++)
            total += part[i];
        assert(total == 15);
    }
    return 0;
}
int main(void)
{
    pthread_t t[N];
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], 0);
    return 0;
}
