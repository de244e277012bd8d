/* An airline overbooks by a cushion: it starts one seller per ticket and stops when a seller has
 * seen the plane full. No lock orders the sale and the check, so more seats than there are can be
 * sold before the word gets round.
 *
 * usage: airline [tickets] [cushion] */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_TICKETS 256

static int sold;
static atomic_int stop; /* looked at in every round, long before anybody sets it */

static void *seller(void *arg)
{
    int capacity = (int)(intptr_t)arg;
    sold = sold + 1;
    if (sold > capacity)
        atomic_store_explicit(&stop, 1, memory_order_relaxed);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int tickets = argc > 1 ? atoi(argv[1]) : 20;
    int cushion = argc > 2 ? atoi(argv[2]) : 4;
    int capacity = tickets - cushion;

    if (tickets < 1 || tickets > MAX_TICKETS || cushion < 0 || capacity < 1)
        return 2;
    for (int i = 0; i < tickets; i++) {
        if (atomic_load_explicit(&stop, memory_order_relaxed)) {
            sold = sold - 1;
            break;
        }
        pthread_create(&thread, NULL, seller, (void *)(intptr_t)capacity);
    }
    /* The sellers are deliberately not joined. */
    assert(sold <= capacity);
    return 0;
}
