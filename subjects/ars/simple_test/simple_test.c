/* The second thread asserts what it has just tested, but the first may change y in between. */
#include <assert.h>
#include <pthread.h>

static int x = 1, y = 1;

static void *mover(void *arg)
{
    (void)arg;
    x = x - 1;
    y = y + 1;
    return NULL;
}

static void *tester(void *arg)
{
    (void)arg;
    y = x - 1;
    if (y <= 0) {
        int printed = y;
        (void)printed;
        assert(y <= 0);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, mover, NULL);
    pthread_create(&b, NULL, tester, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
