/* A list with one lock that each call takes at a place of its own, except for the two that hand
 * out a cursor. Calls with another list look at it while they hold their own lock: some through
 * its locked calls, some through its cursor, which nobody locks. Include a plain list first. */
#ifndef SYNC_LIST_H
#define SYNC_LIST_H

#include <pthread.h>

#define DOMAIN 3

struct guarded {
    pthread_mutex_t lock;
    struct list list;
};

#define GUARDED {.lock = PTHREAD_MUTEX_INITIALIZER}

enum operation {
    ADD,
    TO_ARRAY,
    CLEAR,
    CONTAINS,
    SIZE,
    REMOVE,
    LIST_ITERATOR,
    INDEX_OF,
    IS_EMPTY,
    ITERATOR,
    LAST_INDEX_OF,
    EQUALS,
    CONTAINS_ALL,
    ADD_ALL,
    REMOVE_ALL,
};

static inline int position(const struct list *list, int wanted, int last)
{
    struct cursor cursor = list_begin(list);
    int found = -1, value;
    for (int i = 0; list_next(&cursor, &value) == 1; i++)
        if (value == wanted) {
            found = i;
            if (!last)
                break;
        }
    return found;
}

static inline int add(struct guarded *own, int value)
{
    pthread_mutex_lock(&own->lock);
    list_append(&own->list, value);
    pthread_mutex_unlock(&own->lock);
    return 1;
}

static inline int to_array(struct guarded *own, int *into)
{
    int count = 0;
    pthread_mutex_lock(&own->lock);
    struct cursor cursor = list_begin(&own->list);
    while (list_next(&cursor, &into[count]) == 1)
        count++;
    pthread_mutex_unlock(&own->lock);
    return count;
}

static inline int clear(struct guarded *own)
{
    pthread_mutex_lock(&own->lock);
    list_clear(&own->list);
    pthread_mutex_unlock(&own->lock);
    return 1;
}

static inline int contains(struct guarded *own, int value)
{
    pthread_mutex_lock(&own->lock);
    int found = position(&own->list, value, 0) >= 0;
    pthread_mutex_unlock(&own->lock);
    return found;
}

static inline int size(struct guarded *own)
{
    pthread_mutex_lock(&own->lock);
    int count = own->list.size;
    pthread_mutex_unlock(&own->lock);
    return count;
}

static inline int remove_value(struct guarded *own, int value)
{
    pthread_mutex_lock(&own->lock);
    int index = position(&own->list, value, 0);
    if (index >= 0)
        list_remove_at(&own->list, index);
    pthread_mutex_unlock(&own->lock);
    return index >= 0;
}

static inline int index_of(struct guarded *own, int value)
{
    pthread_mutex_lock(&own->lock);
    int index = position(&own->list, value, 0);
    pthread_mutex_unlock(&own->lock);
    return index;
}

static inline int is_empty(struct guarded *own)
{
    pthread_mutex_lock(&own->lock);
    int empty = own->list.size == 0;
    pthread_mutex_unlock(&own->lock);
    return empty;
}

static inline int last_index_of(struct guarded *own, int value)
{
    pthread_mutex_lock(&own->lock);
    int index = position(&own->list, value, 1);
    pthread_mutex_unlock(&own->lock);
    return index;
}

static inline int equals(struct guarded *own, struct guarded *other)
{
    int mine, theirs, more, equal = 1;
    pthread_mutex_lock(&own->lock);
    struct cursor ours = list_begin(&own->list), cursor = list_begin(&other->list);
    while ((more = list_next(&cursor, &theirs)) == 1 && equal)
        equal = list_next(&ours, &mine) == 1 && mine == theirs;
    pthread_mutex_unlock(&own->lock);
    return more == CHANGED ? CHANGED : equal;
}

static inline int contains_all(struct guarded *own, struct guarded *other)
{
    int value, more, all = 1;
    pthread_mutex_lock(&own->lock);
    struct cursor cursor = list_begin(&other->list);
    while ((more = list_next(&cursor, &value)) == 1 && all)
        all = position(&own->list, value, 0) >= 0;
    pthread_mutex_unlock(&own->lock);
    return more == CHANGED ? CHANGED : all;
}

static inline int add_all(struct guarded *own, struct guarded *other)
{
    int value, more = AT_END;
    pthread_mutex_lock(&own->lock);
    if (own->list.size + size(other) <= CAPACITY) {
        struct cursor cursor = list_begin(&other->list);
        while ((more = list_next(&cursor, &value)) == 1)
            list_append(&own->list, value);
    }
    pthread_mutex_unlock(&own->lock);
    return more == CHANGED ? CHANGED : 1;
}

static inline int remove_all(struct guarded *own, struct guarded *other)
{
    int values[CAPACITY], kept = 0, removed;
    pthread_mutex_lock(&own->lock);
    struct cursor cursor = list_begin(&own->list);
    while (list_next(&cursor, &values[kept]) == 1)
        kept += !contains(other, values[kept]);
    removed = own->list.size - kept;
    list_clear(&own->list);
    for (int i = 0; i < kept; i++)
        list_append(&own->list, values[i]);
    pthread_mutex_unlock(&own->lock);
    return removed;
}

static inline int perform(enum operation operation, struct guarded *own, struct guarded *other,
                          int value)
{
    int copied[CAPACITY];
    switch (operation) {
    case ADD:
        return add(own, value);
    case TO_ARRAY:
        return to_array(own, copied);
    case CLEAR:
        return clear(own);
    case CONTAINS:
        return contains(own, value);
    case SIZE:
        return size(own);
    case REMOVE:
        return remove_value(own, value);
    case LIST_ITERATOR:
    case ITERATOR:
        return list_begin(&own->list).expected >= 0;
    case INDEX_OF:
        return index_of(own, value);
    case IS_EMPTY:
        return is_empty(own);
    case LAST_INDEX_OF:
        return last_index_of(own, value);
    case EQUALS:
        return equals(own, other);
    case CONTAINS_ALL:
        return contains_all(own, other);
    case ADD_ALL:
        return add_all(own, other);
    case REMOVE_ALL:
        return remove_all(own, other);
    }
    return 0;
}

#endif
