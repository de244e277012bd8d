/* A plain hash set of numbers. It counts its changes, so that a cursor can tell that the set has
 * changed under it. Removed nodes are not freed: a cursor may still stand on one, and in the
 * original a collector would keep it. Nothing is locked here. */
#ifndef HASH_SET_H
#define HASH_SET_H

#include <stdlib.h>

#include "cursor.h"

#define BUCKETS 8

struct node {
    int value;
    struct node *next;
};

struct set {
    int size;
    int changes;
    struct node *buckets[BUCKETS];
};

struct cursor {
    const struct set *set;
    int expected;
    int bucket;
    const struct node *node;
};

static inline struct cursor set_begin(const struct set *set)
{
    return (struct cursor){.set = set, .expected = set->changes};
}

static inline int set_next(struct cursor *cursor, int *value)
{
    while (cursor->node == NULL && cursor->bucket < BUCKETS)
        cursor->node = cursor->set->buckets[cursor->bucket++];
    if (cursor->node == NULL)
        return AT_END;
    if (cursor->set->changes != cursor->expected)
        return CHANGED;
    *value = cursor->node->value;
    cursor->node = cursor->node->next;
    return 1;
}

static inline struct node **set_find(struct set *set, int value)
{
    struct node **link = &set->buckets[value % BUCKETS];
    while (*link != NULL && (*link)->value != value)
        link = &(*link)->next;
    return link;
}

static inline int set_contains(struct set *set, int value)
{
    return *set_find(set, value) != NULL;
}

static inline int set_add(struct set *set, int value)
{
    struct node **link = set_find(set, value);
    if (*link != NULL)
        return 0;
    struct node *node = calloc(1, sizeof *node);
    node->value = value;
    *link = node;
    set->size = set->size + 1;
    set->changes = set->changes + 1;
    return 1;
}

static inline int set_remove(struct set *set, int value)
{
    struct node **link = set_find(set, value);
    if (*link == NULL)
        return 0;
    *link = (*link)->next;
    set->size = set->size - 1;
    set->changes = set->changes + 1;
    return 1;
}

static inline void set_clear(struct set *set)
{
    for (int i = 0; i < BUCKETS; i++)
        set->buckets[i] = NULL;
    set->size = 0;
    set->changes = set->changes + 1;
}

#endif
