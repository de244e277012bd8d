// expect: assertion
// A structure copied in two places at once; memcpy is one step, field writes are several.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct pair { long a, b, c, d, e; };
static struct pair shared;

static void *write_fields(void *unused) {
    shared.a = 1;
    shared.b = 1;
    return unused;
}

int main(void) {
    pthread_t t;
    struct pair seen;
    pthread_create(&t, 0, write_fields, 0);
    memcpy(&seen, &shared, sizeof seen);
    assert(seen.a == seen.b);
    pthread_join(t, 0);
    return 0;
}
