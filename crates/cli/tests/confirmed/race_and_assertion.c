// A race that does no harm, an assertion that another bug fails, and counters that are right.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, count_lock = PTHREAD_MUTEX_INITIALIZER;
static int last_seen; /* written by everybody, read by nobody who cares */
static int tickets = 1, sold, steps, rounds;

static void count(int *counter)
{
    pthread_mutex_lock(&count_lock);
    *counter = *counter + 1;
    pthread_mutex_unlock(&count_lock);
}

static void *seller(void *arg)
{
    int left;

    count(&steps);
    last_seen = (int)(long)arg; /* bug 1 */
    pthread_mutex_lock(&lock);
    left = tickets; /* bug 2 */
    pthread_mutex_unlock(&lock);
    count(&steps);
    if (left > 0) {
        count(&rounds);
        pthread_mutex_lock(&lock);
        tickets = left - 1; /* bug 2 */
        sold = sold + 1;
        pthread_mutex_unlock(&lock);
    }
    count(&steps);
    return 0;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, 0, seller, (void *)1L);
    pthread_create(&b, 0, seller, (void *)2L);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(steps == 6);
    assert(sold == 1);
    return 0;
}
