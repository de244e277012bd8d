/* A hash code is computed lazily and cached in the field it is computed in, so a second thread
 * can take the half-computed value for the finished one. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define SEED 17u
#define KIND 4711u

static uint32_t hash;

static void *hasher(void *arg)
{
    (void)arg;
    if (hash == 0) {
        hash = SEED;
        hash = 37 * hash + KIND;
    }
    uint32_t result = hash;
    /* Handed back through the join, so that no further shared access is needed. */
    return (void *)(uintptr_t)result;
}

int main(void)
{
    pthread_t a, b;
    void *first, *second;

    pthread_create(&a, NULL, hasher, NULL);
    pthread_create(&b, NULL, hasher, NULL);
    pthread_join(a, &first);
    pthread_join(b, &second);
    assert(first == second);
    return 0;
}
