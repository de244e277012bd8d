/* A hash table with one re-entrant lock that each call takes at a place of its own: the calls of
 * the table and those of its views on keys, entries and values, which share the table's lock and
 * in part call the table again. Taking over another table goes through its entries with a cursor
 * that nobody locks. */
#ifndef SYNC_TABLE_H
#define SYNC_TABLE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>

#include "plain_table.h"

#define DOMAIN 3000

struct guarded {
    pthread_mutex_t lock;
    struct table table;
};

#define GUARDED {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP}

/* Defines a call: the lock around one expression that is its result. */
#define LOCKED_CALL(name, expression)                    \
    static inline int name(struct guarded *own, int key) \
    {                                                    \
        (void)key;                                       \
        pthread_mutex_lock(&own->lock);                  \
        int result = (expression);                       \
        pthread_mutex_unlock(&own->lock);                \
        return result;                                   \
    }

LOCKED_CALL(put, (table_put(&own->table, key, key + 1), 1))
LOCKED_CALL(remove_key, table_remove(&own->table, key))
LOCKED_CALL(clear, (table_clear(&own->table), 1))
LOCKED_CALL(get, *table_find(&own->table, key) != NULL)
LOCKED_CALL(contains_key, *table_find(&own->table, key) != NULL)
LOCKED_CALL(contains, table_has_value(&own->table, key + 1))
LOCKED_CALL(size, own->table.size)
LOCKED_CALL(is_empty, own->table.size == 0)
LOCKED_CALL(keys, table_begin(&own->table).expected)
LOCKED_CALL(elements, table_begin(&own->table).expected)
LOCKED_CALL(hash_code, table_digest(&own->table))
LOCKED_CALL(to_string, table_digest(&own->table))
LOCKED_CALL(copy, table_digest(&own->table))
LOCKED_CALL(key_set_size, own->table.size)
LOCKED_CALL(key_set_contains, contains_key(own, key))
LOCKED_CALL(key_set_remove, remove_key(own, key))
LOCKED_CALL(entry_set_size, own->table.size)
LOCKED_CALL(entry_set_contains, *table_find(&own->table, key) != NULL)
LOCKED_CALL(entry_set_remove, table_remove(&own->table, key))
LOCKED_CALL(values_size, own->table.size)
LOCKED_CALL(values_contains, contains(own, key))
LOCKED_CALL(values_clear, clear(own, key))

static inline int put_all(struct guarded *own, struct guarded *other)
{
    int key, value, more;
    pthread_mutex_lock(&own->lock);
    struct cursor cursor = table_begin(&other->table);
    while ((more = table_next(&cursor, &key, &value)) == 1)
        put(own, key);
    pthread_mutex_unlock(&own->lock);
    return more == CHANGED ? CHANGED : 1;
}

static inline int equals(struct guarded *own, struct guarded *other)
{
    int key, value;
    pthread_mutex_lock(&own->lock);
    int equal = size(other, 0) == own->table.size;
    struct cursor cursor = table_begin(&own->table);
    while (equal && table_next(&cursor, &key, &value) == 1)
        equal = get(other, key);
    pthread_mutex_unlock(&own->lock);
    return equal;
}

enum operation {
    PUT,
    REMOVE,
    CLEAR,
    GET,
    CONTAINS_KEY,
    CONTAINS,
    SIZE,
    IS_EMPTY,
    KEYS,
    ELEMENTS,
    HASH_CODE,
    TO_STRING,
    COPY,
    KEY_SET_SIZE,
    KEY_SET_CONTAINS,
    KEY_SET_REMOVE,
    ENTRY_SET_SIZE,
    ENTRY_SET_CONTAINS,
    ENTRY_SET_REMOVE,
    VALUES_SIZE,
    VALUES_CONTAINS,
    VALUES_CLEAR,
    PUT_ALL,
    EQUALS,
};

static int (*const calls[])(struct guarded *own, int key) = {
    [PUT] = put,
    [REMOVE] = remove_key,
    [CLEAR] = clear,
    [GET] = get,
    [CONTAINS_KEY] = contains_key,
    [CONTAINS] = contains,
    [SIZE] = size,
    [IS_EMPTY] = is_empty,
    [KEYS] = keys,
    [ELEMENTS] = elements,
    [HASH_CODE] = hash_code,
    [TO_STRING] = to_string,
    [COPY] = copy,
    [KEY_SET_SIZE] = key_set_size,
    [KEY_SET_CONTAINS] = key_set_contains,
    [KEY_SET_REMOVE] = key_set_remove,
    [ENTRY_SET_SIZE] = entry_set_size,
    [ENTRY_SET_CONTAINS] = entry_set_contains,
    [ENTRY_SET_REMOVE] = entry_set_remove,
    [VALUES_SIZE] = values_size,
    [VALUES_CONTAINS] = values_contains,
    [VALUES_CLEAR] = values_clear,
};

static inline int perform(enum operation operation, struct guarded *own, struct guarded *other,
                          int key)
{
    if (operation == PUT_ALL)
        return put_all(own, other);
    if (operation == EQUALS)
        return equals(own, other);
    return calls[operation](own, key);
}

#endif
