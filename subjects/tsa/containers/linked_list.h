/* A plain linked list of numbers. It counts its changes, so that a cursor can tell that the list
 * has changed under it. Removed nodes are not freed: a cursor may still stand on one, and in the
 * original a collector would keep it. Nothing is locked here. */
#ifndef LINKED_LIST_H
#define LINKED_LIST_H

#include <stdlib.h>

#include "cursor.h"

#define CAPACITY 64

struct node {
    int value;
    struct node *next;
};

struct list {
    int size;
    int changes;
    struct node *first;
};

struct cursor {
    const struct list *list;
    int expected;
    const struct node *next;
};

static inline struct cursor list_begin(const struct list *list)
{
    return (struct cursor){.list = list, .expected = list->changes, .next = list->first};
}

static inline int list_next(struct cursor *cursor, int *value)
{
    if (cursor->next == NULL)
        return AT_END;
    if (cursor->list->changes != cursor->expected)
        return CHANGED;
    *value = cursor->next->value;
    cursor->next = cursor->next->next;
    return 1;
}

static inline void list_append(struct list *list, int value)
{
    struct node *node = calloc(1, sizeof *node);
    struct node **link = &list->first;
    while (*link != NULL)
        link = &(*link)->next;
    node->value = value;
    *link = node;
    list->size = list->size + 1;
    list->changes = list->changes + 1;
}

static inline void list_remove_at(struct list *list, int index)
{
    struct node **link = &list->first;
    while (index-- > 0)
        link = &(*link)->next;
    *link = (*link)->next;
    list->size = list->size - 1;
    list->changes = list->changes + 1;
}

static inline void list_clear(struct list *list)
{
    list->first = NULL;
    list->size = 0;
    list->changes = list->changes + 1;
}

#endif
