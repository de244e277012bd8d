/* Deadlock: one thread moves water from the left tank to the right, the other from right to left.
 * Each locks the tank it takes from, then the one it pours into, so each can end up holding the
 * lock the other one needs. Locking both tanks in one fixed order would cure it.
 *
 *     threadbare hunt examples/deadlock.c
 */
#include <assert.h>
#include <pthread.h>

struct tank {
    pthread_mutex_t lock;
    int litres;
};

static struct tank left = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct tank right = {PTHREAD_MUTEX_INITIALIZER, 100};

static void pour(struct tank *from, struct tank *to, int litres)
{
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->litres -= litres;
    to->litres += litres;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *pour_right(void *unused)
{
    (void)unused;
    pour(&left, &right, 30);
    return NULL;
}

static void *pour_left(void *unused)
{
    (void)unused;
    pour(&right, &left, 10);
    return NULL;
}

int main(void)
{
    pthread_t first, second;

    pthread_create(&first, NULL, pour_right, NULL);
    pthread_create(&second, NULL, pour_left, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);

    assert(left.litres == 80 && right.litres == 120);
    return 0;
}
