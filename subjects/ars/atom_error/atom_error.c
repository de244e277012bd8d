/* Two threads move their cash into a shared total without a lock, and each expects the whole sum
 * to be there when it is done. The first to finish is wrong even when the threads run one after
 * the other; only runs where both additions precede both checks pass. */
#include <assert.h>
#include <pthread.h>

static int total;

static void *depositor(void *arg)
{
    (void)arg;
    int cash = 1;
    while (cash > 0) {
        cash--;
        total = total + 1;
    }
    /* The original prints the total first: one more read. */
    int printed = total;
    (void)printed;
    assert(total == 2);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, depositor, NULL);
    pthread_create(&b, NULL, depositor, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
