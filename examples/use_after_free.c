/* Use after free: a reader borrows the current message while main replaces it and frees the old
 * one. The reader may still hold the old pointer. Run natively, the program reads whatever the
 * allocator has left there and looks fine.
 *
 *     threadbare hunt examples/use_after_free.c
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct message {
    int length;
};

static struct message *current;

static struct message *new_message(int length)
{
    struct message *m = malloc(sizeof *m);
    m->length = length;
    return m;
}

static void *reader(void *unused)
{
    (void)unused;
    struct message *m = current;
    printf("reader: %d bytes\n", m->length);
    return NULL;
}

int main(void)
{
    pthread_t thread;

    current = new_message(10);
    pthread_create(&thread, NULL, reader, NULL);

    struct message *old = current;
    current = new_message(20);
    free(old);

    pthread_join(thread, NULL);
    free(current);
    return 0;
}
