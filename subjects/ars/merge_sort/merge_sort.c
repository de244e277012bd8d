/* A merge sort that gives its halves to threads as long as fewer than a limit are alive. Asking
 * how many are free and counting the new ones are separate steps, and the count is kept under
 * each sorter's own lock instead of the common one; the number of free threads turns negative.
 *
 * usage: merge_sort [items] [limit, counting main] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 4096

struct job {
    int *items;
    int n;
};

static pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER;
static int alive = 1;
static int limit = 4;

static int available(void)
{
    pthread_mutex_lock(&common);
    int left = limit - alive;
    pthread_mutex_unlock(&common);
    assert(left >= 0 && "more threads alive than allowed");
    return left < 2 ? left : 2;
}

static void count_alive(pthread_mutex_t *own, int change)
{
    pthread_mutex_lock(own);
    alive = alive + change;
    pthread_mutex_unlock(own);
}

/* Works on a private copy: what is of interest is the counting, not the items. */
static void merge(int *items, int left, int n)
{
    int halves[n], merged[n];
    int i = 0, j = left;

    memcpy(halves, items, sizeof halves);
    for (int k = 0; k < n; k++) {
        int from_left = j == n || (i < left && halves[i] <= halves[j]);
        merged[k] = from_left ? halves[i++] : halves[j++];
    }
    memcpy(items, merged, sizeof merged);
}

static void *sort_job(void *arg);

static void sort(int *items, int n)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_t a, b;

    if (n <= 1)
        return;
    int middle = n / 2;
    int spare = available();
    if (spare == 0) {
        sort(items, middle);
        sort(items + middle, n - middle);
    } else {
        struct job left = {items, middle};
        struct job right = {items + middle, n - middle};
        pthread_create(&a, NULL, sort_job, &left);
        count_alive(&own, 1);
        if (spare == 1) {
            sort(items + middle, n - middle);
        } else {
            pthread_create(&b, NULL, sort_job, &right);
            count_alive(&own, 1);
        }
        pthread_join(a, NULL);
        count_alive(&own, -1);
        if (spare == 2) {
            pthread_join(b, NULL);
            count_alive(&own, -1);
        }
    }
    merge(items, middle, n);
}

static void *sort_job(void *arg)
{
    const struct job *job = arg;
    sort(job->items, job->n);
    return NULL;
}

int main(int argc, char **argv)
{
    int items[MAX_ITEMS];
    int n = argc > 1 ? atoi(argv[1]) : 50;

    if (argc > 2)
        limit = atoi(argv[2]);
    if (n < 1 || n > MAX_ITEMS || limit < 1)
        return 2;
    for (int i = 0; i < n; i++)
        items[i] = (i * 37 + 11) % 101;
    sort(items, n);
    return 0;
}
