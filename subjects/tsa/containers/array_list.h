/* A plain list of numbers in an array. It counts its changes, so that a cursor can tell that the
 * list has changed under it. Nothing is locked here. */
#ifndef ARRAY_LIST_H
#define ARRAY_LIST_H

#include "cursor.h"

#define CAPACITY 64

struct list {
    int size;
    int changes;
    int values[CAPACITY];
};

struct cursor {
    const struct list *list;
    int expected;
    int next;
};

static inline struct cursor list_begin(const struct list *list)
{
    return (struct cursor){.list = list, .expected = list->changes};
}

static inline int list_next(struct cursor *cursor, int *value)
{
    if (cursor->next == cursor->list->size)
        return AT_END;
    if (cursor->list->changes != cursor->expected)
        return CHANGED;
    *value = cursor->list->values[cursor->next];
    cursor->next++;
    return 1;
}

static inline void list_append(struct list *list, int value)
{
    list->values[list->size] = value;
    list->size = list->size + 1;
    list->changes = list->changes + 1;
}

static inline void list_remove_at(struct list *list, int index)
{
    for (int i = index; i < list->size - 1; i++)
        list->values[i] = list->values[i + 1];
    list->size = list->size - 1;
    list->changes = list->changes + 1;
}

static inline void list_clear(struct list *list)
{
    list->size = 0;
    list->changes = list->changes + 1;
}

#endif
