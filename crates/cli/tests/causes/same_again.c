// The top is the same node again, but what is below it has changed.
// cause: nodes[].next 18 29 (21) | top 17 20 (30)
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node { struct node *_Atomic next; atomic_int taken; };
static struct node nodes[3];
static struct node *_Atomic top;

static struct node *pop(void)
{
    struct node *first, *second;
    do {
        /* Between here and the exchange it may come and go. */
        first = atomic_load(&top);
        second = first ? atomic_load(&first->next) : NULL;
        if (!first) return NULL;
    } while (!atomic_compare_exchange_strong(&top, &first, second));
    assert(atomic_exchange(&first->taken, 1) == 0);
    return first;
}
static void push(struct node *node)
{
    atomic_store(&node->taken, 0);
    struct node *first = atomic_load(&top);
    do {
        atomic_store(&node->next, first);
    } while (!atomic_compare_exchange_strong(&top, &first, node));
}
static void *juggle(void *unused)
{
    (void)unused;
    struct node *one = pop();
    struct node *two = pop();
    if (one) push(one);
    (void)two;
    return 0;
}
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        push(&nodes[i]);
    pthread_create(&thread, 0, juggle, 0);
    pop();
    pop();
    pthread_join(thread, 0);
    return 0;
}
