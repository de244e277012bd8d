/* Clients enter a wake-up time into a short sorted list and wait on the entry; a clock ticks and
 * wakes the first entry that is due. Clients look their entry up without the list's lock, and the
 * clock's removal clears the last slot before it lowers the size: a client then follows NULL.
 *
 * usage: alarm_clock [clients] */
#include <pthread.h>
#include <stdlib.h>

#define MAX_CLIENTS 32
#define MAX_TIME 5
#define INTERVAL 2
#define CAPACITY 2

struct entry {
    int time;
    pthread_mutex_t lock;
    pthread_cond_t due;
};

#define ENTRY(t) {t, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER}

/* One entry per moment that can be asked for; the times are never written. */
static struct entry entries[MAX_TIME + 1] = {ENTRY(0), ENTRY(1), ENTRY(2),
                                             ENTRY(3), ENTRY(4), ENTRY(5)};

static pthread_mutex_t monitor = PTHREAD_MUTEX_INITIALIZER;
static int now;
static struct entry *list[CAPACITY];
static int size;

static void remove_first(void)
{
    int last = size - 1;
    for (int i = 0; i < last; i++)
        list[i] = list[i + 1];
    list[last] = NULL;
    size = size - 1;
}

static void *clock_thread(void *arg)
{
    (void)arg;
    while (now < MAX_TIME) {
        pthread_mutex_lock(&monitor);
        now = now + 1;
        if (size != 0) {
            struct entry *first = list[0];
            if (first->time == now) {
                remove_first();
                pthread_mutex_lock(&first->lock);
                pthread_cond_broadcast(&first->due);
                pthread_mutex_unlock(&first->lock);
            }
        }
        pthread_mutex_unlock(&monitor);
    }
    return NULL;
}

/* Times never decrease, so the sorted position of a new entry is the end. */
static void find_or_insert(int time)
{
    int used = size;
    for (int i = 0; i < used; i++)
        if (list[i]->time == time)
            return;
    if (used == CAPACITY)
        return;
    list[used] = &entries[time];
    size = used + 1;
}

static struct entry *lookup(int time)
{
    for (int i = 0; i < size; i++) {
        struct entry *e = list[i];
        if (e->time == time)
            return e;
    }
    return NULL;
}

static void *client(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&monitor);
    int time = now + INTERVAL;
    if (time > MAX_TIME) {
        pthread_mutex_unlock(&monitor);
        return NULL;
    }
    find_or_insert(time);
    pthread_mutex_unlock(&monitor);

    struct entry *e = lookup(time);
    if (e == NULL)
        return NULL;
    pthread_mutex_lock(&e->lock);
    struct entry *again = lookup(time);
    if (again != NULL)
        pthread_cond_wait(&again->due, &again->lock);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_CLIENTS + 1];
    int clients = argc > 1 ? atoi(argv[1]) : 8;

    if (clients < 1 || clients > MAX_CLIENTS)
        return 2;
    pthread_create(&threads[0], NULL, clock_thread, NULL);
    for (int i = 1; i <= clients; i++)
        pthread_create(&threads[i], NULL, client, NULL);
    for (int i = 0; i <= clients; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
