/* Two synchronized linked lists and fifteen threads with two calls each, nine on the first list
 * and six on the second; only those on the first look at the other one, so there is no circle of
 * locks. What goes through the second list with a cursor that nobody locks fails when it changes
 * meanwhile. */
#include "../containers/linked_list.h"
#include "../containers/sync_list.h"
#include "../containers/callers.h"

static struct guarded one = GUARDED, two = GUARDED;

static const struct script scripts[] = {
    {&one, &two, 2, {ADD, CONTAINS}},
    {&one, &two, 2, {ADD_ALL, SIZE}},
    {&one, &two, 2, {REMOVE, EQUALS}},
    {&one, &two, 2, {INDEX_OF, ADD}},
    {&one, &two, 2, {TO_ARRAY, LAST_INDEX_OF}},
    {&one, &two, 2, {CONTAINS_ALL, IS_EMPTY}},
    {&one, &two, 2, {LIST_ITERATOR, REMOVE_ALL}},
    {&one, &two, 2, {SIZE, CLEAR}},
    {&one, &two, 2, {IS_EMPTY, ADD}},
    {&two, &one, 2, {CONTAINS, REMOVE}},
    {&two, &one, 2, {ADD, LAST_INDEX_OF}},
    {&two, &one, 2, {TO_ARRAY, SIZE}},
    {&two, &one, 2, {CLEAR, ADD}},
    {&two, &one, 2, {INDEX_OF, ITERATOR}},
    {&two, &one, 2, {IS_EMPTY, CONTAINS}},
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
