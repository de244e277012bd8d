// The count is lowered and looked at in two steps.
// finds: use-after-free - 11 | use-after-free - 10
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct obj { atomic_int refs; int value; };
static void put(struct obj *o)
{
    atomic_fetch_sub(&o->refs, 1);
    if (atomic_load(&o->refs) == 0)
        free(o);
}
static void *w(void *p) { put(p); return 0; }
int main(void)
{
    struct obj *o = malloc(sizeof *o);
    atomic_init(&o->refs, 2);
    o->value = 3;
    pthread_t a, b;
    pthread_create(&a, 0, w, o);
    pthread_create(&b, 0, w, o);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
