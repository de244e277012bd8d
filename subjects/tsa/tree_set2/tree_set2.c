/* Two synchronized tree sets and three threads with several calls each, two on the first set and
 * one on the second; only those on the first look at the other one, so there is no circle of
 * locks. What goes through the second set with a cursor that nobody locks fails when it changes
 * meanwhile. */
#include "../containers/tree_set.h"
#include "../containers/sync_set.h"
#include "../containers/callers.h"

static struct guarded one = GUARDED, two = GUARDED;

static const struct script scripts[] = {
    {&one, &two, 8, {ADD, CONTAINS, ADD_ALL, SIZE, REMOVE, EQUALS, IS_EMPTY, ITERATOR}},
    {&one, &two, 8, {TO_ARRAY, CONTAINS_ALL, ADD, REMOVE_ALL, SIZE, RETAIN_ALL, CONTAINS, CLEAR}},
    {&two, &one, 8, {ADD, SIZE, CONTAINS, REMOVE, ADD, TO_ARRAY, IS_EMPTY, CLEAR}},
};

int main(void)
{
    for (int value = 300; value <= 400; value += 100) {
        add(&one, value);
        add(&two, value + 1);
    }
    run(scripts, sizeof scripts / sizeof *scripts);
    return 0;
}
