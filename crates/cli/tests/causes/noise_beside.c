// A harmless count is torn beside what matters.
// cause: ready|data 12 16 24
#include <assert.h>
#include <pthread.h>
static int hits;
static int ready, data;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *a(void *p)
{
    hits++;
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_mutex_unlock(&m);
    hits++;
    pthread_mutex_lock(&m);
    data = 7;
    pthread_mutex_unlock(&m);
    return 0;
}
static void *b(void *p)
{
    hits++;
    pthread_mutex_lock(&m);
    int r = ready, d = data;
    pthread_mutex_unlock(&m);
    hits++;
    if (r)
        assert(d == 7);
    return 0;
}
int main(void)
{
    pthread_t x, y;
    pthread_create(&x, 0, a, 0);
    pthread_create(&y, 0, b, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
