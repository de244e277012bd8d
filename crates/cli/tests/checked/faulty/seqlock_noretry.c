// A reader of a seqlock that does not look at the sequence again.
// finds: atomicity a 12 13 22 23 | atomicity a 13 22 23 | atomicity a 12 22 23
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint seq;
static atomic_int a, b;
static void *writer(void *p)
{
    (void)p;
    atomic_fetch_add(&seq, 1);
    atomic_store(&a, 1);
    atomic_store(&b, -1);
    atomic_fetch_add(&seq, 1);
    return 0;
}
static void *reader(void *p)
{
    (void)p;
    while (atomic_load(&seq) & 1)
        ;
    int x = atomic_load(&a);
    int y = atomic_load(&b);
    assert(x + y == 0); /* forgot to compare seq again */
    return 0;
}
int main(void)
{
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
