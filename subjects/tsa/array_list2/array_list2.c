/* Two synchronized array lists and four threads with several calls each, two on each list; only
 * those on the first look at the second, so there is no circle of locks. What goes through the
 * second list with a cursor that nobody locks fails when it changes meanwhile. */
#include "../containers/array_list.h"
#include "../containers/sync_list.h"
#include "../containers/callers.h"

static struct guarded one = GUARDED, two = GUARDED;

static const struct script scripts[] = {
    {&one, &two, 7, {ADD, CONTAINS, ADD_ALL, SIZE, REMOVE, EQUALS, INDEX_OF}},
    {&one, &two, 6, {TO_ARRAY, CONTAINS_ALL, LAST_INDEX_OF, IS_EMPTY, REMOVE_ALL, CLEAR}},
    {&two, &one, 6, {CONTAINS, ADD, LAST_INDEX_OF, TO_ARRAY, SIZE, CLEAR}},
    {&two, &one, 6, {IS_EMPTY, INDEX_OF, ADD, REMOVE, ITERATOR, CONTAINS}},
};

int main(void)
{
    for (int value = 0; value < 2; value++) {
        add(&one, value);
        add(&two, value + 1);
    }
    run(scripts, sizeof scripts / sizeof *scripts);
    return 0;
}
