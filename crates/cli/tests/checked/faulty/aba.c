// A stack that takes a node that was popped and pushed again for unchanged.
// finds: assertion - 18
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
struct node { struct node *_Atomic next; atomic_int in_use; };
static struct node n[3];
static struct node *_Atomic top;
static struct node *pop(void)
{
    struct node *t, *next;
    do {
        t = atomic_load(&top);
        if (!t) return NULL;
        next = atomic_load(&t->next);
    } while (!atomic_compare_exchange_strong(&top, &t, next));
    assert(atomic_exchange(&t->in_use, 1) == 0);
    return t;
}
static void push(struct node *t)
{
    atomic_store(&t->in_use, 0);
    struct node *old = atomic_load(&top);
    do atomic_store(&t->next, old);
    while (!atomic_compare_exchange_strong(&top, &old, t));
}
static void *one(void *p) { (void)p; pop(); return 0; }
static void *two(void *p)
{
    (void)p;
    struct node *a = pop();
    struct node *b = pop();
    (void)b;
    if (a) push(a);
    pop();
    pop();
    return 0;
}
int main(void)
{
    atomic_store(&n[0].next, &n[1]);
    atomic_store(&n[1].next, &n[2]);
    atomic_store(&top, &n[0]);
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
