// Each step is atomic, the two together are not.
// cause: seen 12 13
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { VISITORS = 6 };
static atomic_int seen;
static void *visit(void *unused)
{
    (void)unused;
    int before = atomic_load(&seen);
    atomic_store(&seen, before + 1);
    return 0;
}
int main(void)
{
    pthread_t visitors[VISITORS];
    for (int i = 0; i < VISITORS; i++)
        pthread_create(&visitors[i], 0, visit, 0);
    for (int i = 0; i < VISITORS; i++)
        pthread_join(visitors[i], 0);
    assert(seen == VISITORS);
    return 0;
}
