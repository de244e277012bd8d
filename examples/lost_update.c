/* Lost update: two threads raise one counter, and "counter = counter + 1" is a read followed by a
 * write. When both threads read before either writes, one of the two additions is overwritten.
 * The program nearly always passes when you just run it.
 *
 *     threadbare hunt examples/lost_update.c
 */
#include <assert.h>
#include <pthread.h>

static int counter;

static void *add_one(void *unused)
{
    (void)unused;
    counter = counter + 1;
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, add_one, NULL);
    pthread_create(&second, NULL, add_one, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);

    assert(counter == 2);
    return 0;
}
