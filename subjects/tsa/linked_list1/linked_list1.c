/* Two synchronized linked lists and 26 threads with one call each: 15 on the first list, which may
 * look at the second, and 11 on the second. equals, containsAll and addAll go through the other
 * list with a cursor that nobody locks, and fail when it changes meanwhile. */
#include "../containers/linked_list.h"
#include "../containers/sync_list.h"
#include "../containers/callers.h"

static struct guarded one = GUARDED, two = GUARDED;

static const struct script scripts[] = {
    ONE_CALL(one, two, REMOVE_ALL),
    ONE_CALL(one, two, ADD_ALL),
    ONE_CALL(one, two, CONTAINS_ALL),
    ONE_CALL(one, two, EQUALS),
    ONE_CALL(one, two, LAST_INDEX_OF),
    ONE_CALL(one, two, ITERATOR),
    ONE_CALL(one, two, IS_EMPTY),
    ONE_CALL(one, two, INDEX_OF),
    ONE_CALL(one, two, LIST_ITERATOR),
    ONE_CALL(one, two, REMOVE),
    ONE_CALL(one, two, SIZE),
    ONE_CALL(one, two, CONTAINS),
    ONE_CALL(one, two, CLEAR),
    ONE_CALL(one, two, TO_ARRAY),
    ONE_CALL(one, two, ADD),
    ONE_CALL(two, one, LAST_INDEX_OF),
    ONE_CALL(two, one, ITERATOR),
    ONE_CALL(two, one, IS_EMPTY),
    ONE_CALL(two, one, INDEX_OF),
    ONE_CALL(two, one, LIST_ITERATOR),
    ONE_CALL(two, one, REMOVE),
    ONE_CALL(two, one, SIZE),
    ONE_CALL(two, one, CONTAINS),
    ONE_CALL(two, one, CLEAR),
    ONE_CALL(two, one, TO_ARRAY),
    ONE_CALL(two, one, ADD),
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
