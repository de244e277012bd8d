// A reader acts on what it saw before it held the lock for writing.
// finds: atomicity stock 11 15
#include <assert.h>
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int stock = 1, sold;
static void *buyer(void *p)
{
    (void)p;
    pthread_rwlock_rdlock(&l);
    int left = stock;
    pthread_rwlock_unlock(&l);
    if (left > 0) {
        pthread_rwlock_wrlock(&l);
        stock = left - 1;
        sold = sold + 1;
        pthread_rwlock_unlock(&l);
    }
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, buyer, 0);
    pthread_create(&b, 0, buyer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(sold <= 1);
    return 0;
}
