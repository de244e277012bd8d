/* A sorted series of points with a greatest number of them (JFreeChart's XYSeries), nothing
 * locked: adding finds the place, inserts, and drops the first point when there are too many. Two
 * threads that both find too many drop one each, and the second finds nothing to drop; or a place
 * that was found for a point is gone. */
#include <assert.h>
#include <limits.h>
#include <pthread.h>

#define CAPACITY 8

static int points[CAPACITY];
static int size;
static int maximum = INT_MAX;

static int position(int x)
{
    int low = 0, high = size;
    while (low < high) {
        int middle = (low + high) / 2;
        if (points[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(int index, int x)
{
    assert(index <= size && "no such position");
    for (int i = size; i > index; i--)
        points[i] = points[i - 1];
    points[index] = x;
    size = size + 1;
}

static void remove_at(int index)
{
    assert(index < size && "no such position");
    for (int i = index; i < size - 1; i++)
        points[i] = points[i + 1];
    size = size - 1;
}

static void add(int x)
{
    insert(position(x), x);
    if (size > maximum)
        remove_at(0);
}

static void set_maximum(int count)
{
    maximum = count;
}

static void *first_suffix(void *arg)
{
    (void)arg;
    set_maximum(-1);
    add(10);
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    add(-1);
    set_maximum(0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
