// A structure is copied while its members are read.
// finds: race shared.y 13 19
// finds: race shared.z 13 20
#include <assert.h>
#include <pthread.h>
#include <string.h>
struct point { int x, y, z; };
static struct point shared;
static void *mover(void *p)
{
    (void)p;
    struct point mine = {1, 1, 1};
    memcpy(&shared, &mine, sizeof mine);
    return 0;
}
static void *looker(void *p)
{
    (void)p;
    int y = shared.y;
    int z = shared.z;
    assert(y == z);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, mover, 0);
    pthread_create(&b, 0, looker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
