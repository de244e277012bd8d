/* A plain hash table from numbers to numbers. It counts its changes, so that a cursor can tell
 * that the table has changed under it. Removed entries are not freed, as a collector would keep
 * what is still looked at. Nothing is locked here. */
#ifndef PLAIN_TABLE_H
#define PLAIN_TABLE_H

#include <stdlib.h>

#include "cursor.h"

#define BUCKETS 8

struct entry {
    int key, value;
    struct entry *next;
};

struct table {
    int size;
    int changes;
    struct entry *buckets[BUCKETS];
};

struct cursor {
    const struct table *table;
    int expected;
    int bucket;
    const struct entry *entry;
};

static inline struct cursor table_begin(const struct table *table)
{
    return (struct cursor){.table = table, .expected = table->changes};
}

static inline int table_next(struct cursor *cursor, int *key, int *value)
{
    while (cursor->entry == NULL && cursor->bucket < BUCKETS)
        cursor->entry = cursor->table->buckets[cursor->bucket++];
    if (cursor->entry == NULL)
        return AT_END;
    if (cursor->table->changes != cursor->expected)
        return CHANGED;
    *key = cursor->entry->key;
    *value = cursor->entry->value;
    cursor->entry = cursor->entry->next;
    return 1;
}

static inline struct entry **table_find(struct table *table, int key)
{
    struct entry **link = &table->buckets[key % BUCKETS];
    while (*link != NULL && (*link)->key != key)
        link = &(*link)->next;
    return link;
}

static inline void table_put(struct table *table, int key, int value)
{
    struct entry **link = table_find(table, key);
    if (*link == NULL) {
        struct entry *entry = calloc(1, sizeof *entry);
        entry->key = key;
        entry->value = value;
        *link = entry;
        table->size = table->size + 1;
        table->changes = table->changes + 1;
    } else {
        (*link)->value = value;
    }
}

static inline int table_remove(struct table *table, int key)
{
    struct entry **link = table_find(table, key);
    if (*link == NULL)
        return 0;
    *link = (*link)->next;
    table->size = table->size - 1;
    table->changes = table->changes + 1;
    return 1;
}

static inline void table_clear(struct table *table)
{
    for (int i = 0; i < BUCKETS; i++)
        table->buckets[i] = NULL;
    table->size = 0;
    table->changes = table->changes + 1;
}

/* Adds up what is in the table, which the caller has locked. */
static inline int table_digest(const struct table *table)
{
    struct cursor cursor = table_begin(table);
    int key, value, digest = 0;
    while (table_next(&cursor, &key, &value) == 1)
        digest += key ^ value;
    return digest;
}

static inline int table_has_value(const struct table *table, int wanted)
{
    struct cursor cursor = table_begin(table);
    int key, value, found = 0;
    while (!found && table_next(&cursor, &key, &value) == 1)
        found = value == wanted;
    return found;
}

#endif
