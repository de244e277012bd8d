// Three locks in a cycle.
// finds: deadlock a 8 9
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void two(pthread_mutex_t *x, pthread_mutex_t *y)
{
    pthread_mutex_lock(x);
    pthread_mutex_lock(y);
    pthread_mutex_unlock(y);
    pthread_mutex_unlock(x);
}
static void *t1(void *p) { (void)p; two(&a, &b); return 0; }
static void *t2(void *p) { (void)p; two(&b, &c); return 0; }
static void *t3(void *p) { (void)p; two(&c, &a); return 0; }
int main(void)
{
    pthread_t x, y, z;
    pthread_create(&x, 0, t1, 0);
    pthread_create(&y, 0, t2, 0);
    pthread_create(&z, 0, t3, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    pthread_join(z, 0);
    return n;
}
