/* Two synchronized hash sets and 21 threads with one call each: 13 on the first set, which may
 * look at the second, and 8 on the second. addAll, equals, containsAll and removeAll go through
 * the other set with a cursor that nobody locks, and fail when it changes meanwhile. */
#include "../containers/hash_set.h"
#include "../containers/sync_set.h"
#include "../containers/callers.h"

static struct guarded one = GUARDED, two = GUARDED;

static const struct script scripts[] = {
    ONE_CALL(one, two, REMOVE_ALL),
    ONE_CALL(one, two, CONTAINS_ALL),
    ONE_CALL(one, two, RETAIN_ALL),
    ONE_CALL(one, two, EQUALS),
    ONE_CALL(one, two, ADD_ALL),
    ONE_CALL(one, two, ITERATOR),
    ONE_CALL(one, two, IS_EMPTY),
    ONE_CALL(one, two, TO_ARRAY),
    ONE_CALL(one, two, REMOVE),
    ONE_CALL(one, two, CONTAINS),
    ONE_CALL(one, two, CLEAR),
    ONE_CALL(one, two, SIZE),
    ONE_CALL(one, two, ADD),
    ONE_CALL(two, one, ITERATOR),
    ONE_CALL(two, one, IS_EMPTY),
    ONE_CALL(two, one, TO_ARRAY),
    ONE_CALL(two, one, REMOVE),
    ONE_CALL(two, one, CONTAINS),
    ONE_CALL(two, one, CLEAR),
    ONE_CALL(two, one, SIZE),
    ONE_CALL(two, one, ADD),
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
