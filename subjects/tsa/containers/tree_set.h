/* A plain set of numbers in a search tree. It counts its changes, so that a cursor can tell that
 * the set has changed under it; a cursor remembers the last number and searches for the next one.
 * Removed nodes are not freed, as a collector would keep what is still looked at. Nothing is
 * locked here. */
#ifndef TREE_SET_H
#define TREE_SET_H

#include <stdlib.h>

#include "cursor.h"

struct node {
    int value;
    struct node *less, *greater;
};

struct set {
    int size;
    int changes;
    struct node *root;
};

struct cursor {
    const struct set *set;
    int expected;
    int last;
};

static inline struct cursor set_begin(const struct set *set)
{
    return (struct cursor){.set = set, .expected = set->changes, .last = -1};
}

static inline int set_next(struct cursor *cursor, int *value)
{
    const struct node *node = cursor->set->root, *next = NULL;
    while (node != NULL)
        if (node->value > cursor->last) {
            next = node;
            node = node->less;
        } else {
            node = node->greater;
        }
    if (next == NULL)
        return AT_END;
    if (cursor->set->changes != cursor->expected)
        return CHANGED;
    *value = cursor->last = next->value;
    return 1;
}

static inline struct node **set_find(struct set *set, int value)
{
    struct node **link = &set->root;
    while (*link != NULL && (*link)->value != value)
        link = value < (*link)->value ? &(*link)->less : &(*link)->greater;
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
    struct node *node = *link;
    if (node == NULL)
        return 0;
    if (node->less == NULL) {
        *link = node->greater;
    } else if (node->greater == NULL) {
        *link = node->less;
    } else {
        /* The next greater node takes its place. */
        struct node **lowest = &node->greater;
        while ((*lowest)->less != NULL)
            lowest = &(*lowest)->less;
        struct node *heir = *lowest;
        *lowest = heir->greater;
        heir->less = node->less;
        heir->greater = node->greater;
        *link = heir;
    }
    set->size = set->size - 1;
    set->changes = set->changes + 1;
    return 1;
}

static inline void set_clear(struct set *set)
{
    set->root = NULL;
    set->size = 0;
    set->changes = set->changes + 1;
}

#endif
