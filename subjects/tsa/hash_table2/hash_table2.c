/* Two synchronized hash tables and five threads with several calls each, on the tables and on
 * their views, which have the table's lock. Only the second table looks at the first, so there is
 * no circle of locks. putAll goes through the other table with a cursor that nobody locks, and
 * fails when it changes meanwhile. */
#include "../containers/sync_table.h"
#include "../containers/callers.h"

static struct guarded one = GUARDED, two = GUARDED;

static const struct script scripts[] = {
    {&one, &two, 8,
     {PUT, GET, SIZE, KEY_SET_CONTAINS, HASH_CODE, ENTRY_SET_REMOVE, VALUES_SIZE, KEYS}},
    {&one, &two, 8,
     {CONTAINS, REMOVE, IS_EMPTY, ELEMENTS, KEY_SET_REMOVE, COPY, VALUES_CONTAINS, CLEAR}},
    {&one, &two, 8,
     {CONTAINS_KEY, TO_STRING, KEY_SET_SIZE, PUT, ENTRY_SET_SIZE, ENTRY_SET_CONTAINS, VALUES_CLEAR,
      GET}},
    {&two, &one, 8,
     {PUT_ALL, GET, EQUALS, REMOVE, ENTRY_SET_SIZE, KEYS, COPY, SIZE}},
    {&two, &one, 8,
     {PUT, CONTAINS_KEY, EQUALS, KEY_SET_SIZE, HASH_CODE, VALUES_CONTAINS, PUT_ALL, CLEAR}},
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
