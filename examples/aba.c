/* ABA: a pool of three blocks keeps its free blocks on a lock-free stack. take() reads the top
 * block A and its successor B, then swaps the top from A to B if it is still A. In between, another
 * thread can take A, take B and give A back: the top is A again, the swap succeeds, and B counts
 * as free although it is in use. Then two threads own the same block.
 *
 *     threadbare hunt examples/aba.c
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct block {
    struct block *_Atomic next;
    atomic_int owners;
};

static struct block blocks[3];
static struct block *_Atomic top;

static struct block *take(void)
{
    struct block *first, *second;
    do {
        first = atomic_load(&top);
        if (first == NULL)
            return NULL;
        second = atomic_load(&first->next);
    } while (!atomic_compare_exchange_strong(&top, &first, second));
    int owners = atomic_fetch_add(&first->owners, 1);
    assert(owners == 0);
    return first;
}

static void give(struct block *b)
{
    atomic_fetch_sub(&b->owners, 1);
    struct block *first = atomic_load(&top);
    do {
        atomic_store(&b->next, first);
    } while (!atomic_compare_exchange_strong(&top, &first, b));
}

static void *hold_two(void *unused)
{
    (void)unused;
    take();
    take();
    return NULL;
}

static void *give_one_back(void *unused)
{
    (void)unused;
    struct block *mine = take();
    take();
    give(mine);
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    for (int i = 2; i >= 0; i--) {
        atomic_store(&blocks[i].next, atomic_load(&top));
        atomic_store(&top, &blocks[i]);
    }
    pthread_create(&first, NULL, hold_two, NULL);
    pthread_create(&second, NULL, give_one_back, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
