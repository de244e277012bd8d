/* A set with one lock that each call takes at a place of its own, except for the one that hands
 * out a cursor. Calls with another set look at it while they hold their own lock: some through its
 * locked calls, some through its cursor, which nobody locks. Include a plain set first. */
#ifndef SYNC_SET_H
#define SYNC_SET_H

#include <pthread.h>

#define DOMAIN 3000
#define CAPACITY 64

struct guarded {
    pthread_mutex_t lock;
    struct set set;
};

#define GUARDED {.lock = PTHREAD_MUTEX_INITIALIZER}

enum operation {
    ADD,
    SIZE,
    CLEAR,
    CONTAINS,
    REMOVE,
    TO_ARRAY,
    IS_EMPTY,
    ITERATOR,
    ADD_ALL,
    EQUALS,
    RETAIN_ALL,
    CONTAINS_ALL,
    REMOVE_ALL,
};

static inline int add(struct guarded *own, int value)
{
    pthread_mutex_lock(&own->lock);
    int added = set_add(&own->set, value);
    pthread_mutex_unlock(&own->lock);
    return added;
}

static inline int size(struct guarded *own)
{
    pthread_mutex_lock(&own->lock);
    int count = own->set.size;
    pthread_mutex_unlock(&own->lock);
    return count;
}

static inline int clear(struct guarded *own)
{
    pthread_mutex_lock(&own->lock);
    set_clear(&own->set);
    pthread_mutex_unlock(&own->lock);
    return 1;
}

static inline int contains(struct guarded *own, int value)
{
    pthread_mutex_lock(&own->lock);
    int found = set_contains(&own->set, value);
    pthread_mutex_unlock(&own->lock);
    return found;
}

static inline int remove_value(struct guarded *own, int value)
{
    pthread_mutex_lock(&own->lock);
    int removed = set_remove(&own->set, value);
    pthread_mutex_unlock(&own->lock);
    return removed;
}

static inline int to_array(struct guarded *own, int *into)
{
    int count = 0;
    pthread_mutex_lock(&own->lock);
    struct cursor cursor = set_begin(&own->set);
    while (set_next(&cursor, &into[count]) == 1)
        count++;
    pthread_mutex_unlock(&own->lock);
    return count;
}

static inline int is_empty(struct guarded *own)
{
    pthread_mutex_lock(&own->lock);
    int empty = own->set.size == 0;
    pthread_mutex_unlock(&own->lock);
    return empty;
}

static inline int add_all(struct guarded *own, struct guarded *other)
{
    int value, more;
    pthread_mutex_lock(&own->lock);
    struct cursor cursor = set_begin(&other->set);
    while ((more = set_next(&cursor, &value)) == 1)
        set_add(&own->set, value);
    pthread_mutex_unlock(&own->lock);
    return more == CHANGED ? CHANGED : 1;
}

/* With the set's own lock held already. */
static inline int holds_all(struct guarded *own, struct guarded *other)
{
    int value, more, all = 1;
    struct cursor cursor = set_begin(&other->set);
    while ((more = set_next(&cursor, &value)) == 1 && all)
        all = set_contains(&own->set, value);
    return more == CHANGED ? CHANGED : all;
}

static inline int equals(struct guarded *own, struct guarded *other)
{
    int equal = 0;
    pthread_mutex_lock(&own->lock);
    if (size(other) == own->set.size)
        equal = holds_all(own, other);
    pthread_mutex_unlock(&own->lock);
    return equal;
}

static inline int contains_all(struct guarded *own, struct guarded *other)
{
    pthread_mutex_lock(&own->lock);
    int all = holds_all(own, other);
    pthread_mutex_unlock(&own->lock);
    return all;
}

/* Removes those of the set's own numbers that the other set has, or has not; own lock held. */
static inline void sift(struct guarded *own, struct guarded *other, int unwanted)
{
    int values[CAPACITY], count = 0;
    struct cursor cursor = set_begin(&own->set);
    while (set_next(&cursor, &values[count]) == 1)
        count++;
    for (int i = 0; i < count; i++)
        if (contains(other, values[i]) == unwanted)
            set_remove(&own->set, values[i]);
}

static inline int retain_all(struct guarded *own, struct guarded *other)
{
    pthread_mutex_lock(&own->lock);
    sift(own, other, 0);
    pthread_mutex_unlock(&own->lock);
    return 1;
}

static inline int remove_all(struct guarded *own, struct guarded *other)
{
    int value, more = AT_END;
    pthread_mutex_lock(&own->lock);
    if (own->set.size > size(other)) {
        struct cursor cursor = set_begin(&other->set);
        while ((more = set_next(&cursor, &value)) == 1)
            set_remove(&own->set, value);
    } else {
        sift(own, other, 1);
    }
    pthread_mutex_unlock(&own->lock);
    return more == CHANGED ? CHANGED : 1;
}

static inline int perform(enum operation operation, struct guarded *own, struct guarded *other,
                          int value)
{
    int copied[CAPACITY];
    switch (operation) {
    case ADD:
        return add(own, value);
    case SIZE:
        return size(own);
    case CLEAR:
        return clear(own);
    case CONTAINS:
        return contains(own, value);
    case REMOVE:
        return remove_value(own, value);
    case TO_ARRAY:
        return to_array(own, copied);
    case IS_EMPTY:
        return is_empty(own);
    case ITERATOR:
        return set_begin(&own->set).expected >= 0;
    case ADD_ALL:
        return add_all(own, other);
    case EQUALS:
        return equals(own, other);
    case RETAIN_ALL:
        return retain_all(own, other);
    case CONTAINS_ALL:
        return contains_all(own, other);
    case REMOVE_ALL:
        return remove_all(own, other);
    }
    return 0;
}

#endif
