/* Two synchronized hash tables and five threads with one call each. putAll goes through the other
 * table with a cursor that nobody locks, and fails when it changes meanwhile. */
#include "../containers/sync_table.h"
#include "../containers/callers.h"

static struct guarded one = GUARDED, two = GUARDED;

static const struct script scripts[] = {
    ONE_CALL(one, two, PUT),
    ONE_CALL(two, one, PUT_ALL),
    ONE_CALL(one, two, CLEAR),
    ONE_CALL(two, one, CONTAINS),
    ONE_CALL(one, two, REMOVE),
};

int main(void)
{
    for (int key = 100; key <= 200; key += 100) {
        put(&one, key);
        put(&two, key + 1);
    }
    run(scripts, sizeof scripts / sizeof *scripts);
    return 0;
}
