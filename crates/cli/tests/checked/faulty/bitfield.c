// Two bit-fields share a byte.
// finds: race flags.a 6 7
#include <assert.h>
#include <pthread.h>
static struct { unsigned a : 4, b : 4; } flags;
static void *set_a(void *p) { (void)p; flags.a = 1; return 0; }
static void *set_b(void *p) { (void)p; flags.b = 1; return 0; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, set_a, 0);
    pthread_create(&b, 0, set_b, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(flags.a == 1 && flags.b == 1);
    return 0;
}
