// The thread is started before what it needs is set up.
// cause: limits 14 23
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct limits { int most; };
static struct limits table = {9};
static struct limits *limits;

static void *serve(void *unused)
{
    (void)unused;
    struct limits *mine = limits;
    assert(mine != NULL);
    return mine->most > 9 ? unused : 0;
}
int main(void)
{
    pthread_t server;
    pthread_create(&server, 0, serve, 0);
    /* Too late: the server may be running already. */
    limits = &table;
    pthread_join(server, 0);
    return 0;
}
