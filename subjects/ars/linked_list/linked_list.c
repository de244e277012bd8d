/* Two threads append to one list. Each finds the tail, makes the new node under the list's lock,
 * and links it in after the lock is gone: two nodes can land on the same tail and one is lost. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS 2
#define ITEMS 6

struct node {
    int item;
    struct node *next;
    pthread_mutex_t lock;
};

static struct node header;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

static struct node *new_node(int item, struct node *next)
{
    struct node *n = malloc(sizeof *n);
    pthread_mutex_init(&n->lock, NULL);
    pthread_mutex_lock(&n->lock);
    n->item = item;
    n->next = next;
    pthread_mutex_unlock(&n->lock);
    return n;
}

static void append(int item)
{
    struct node *it = &header;
    while (it->next != NULL)
        it = it->next;
    pthread_mutex_lock(&list_lock);
    struct node *next = it->next;
    struct node *n = new_node(item, next);
    pthread_mutex_unlock(&list_lock);
    it->next = n;
}

static void *builder(void *arg)
{
    int first = (int)(intptr_t)arg;
    for (int i = 0; i < ITEMS / THREADS; i++)
        append(first + i);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int length = 0;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, builder, (void *)(intptr_t)(i * ITEMS / THREADS));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (struct node *n = header.next; n != NULL; n = n->next)
        length++;
    assert(length == ITEMS);
    return 0;
}
