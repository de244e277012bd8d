/* Runs one of libuv's own tests, by its name, in this very process. */
#include <stdio.h>
#include <string.h>

#define TEST(name) int run_test_##name(void);
#include "libuv-tests.h"
#undef TEST

int main(int count, char **arguments) {
#define TEST(name) \
    if (count == 2 && !strcmp(arguments[1], #name)) return run_test_##name();
#include "libuv-tests.h"
    fprintf(stderr, "no such test\n");
    return 2;
}

void notify_parent_process(void) {}
