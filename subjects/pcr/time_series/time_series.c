/* A series of values over time (JFreeChart's TimeSeries) tells its listeners about every change.
 * The list of listeners is not locked: adding or removing one while a change is being told is
 * noticed by the iterator, which refuses to go on; and a place that was found for a new one can be
 * gone. */
#include <assert.h>
#include <pthread.h>

#define CAPACITY 8

struct list {
    int size;
    int changes;
    int elements[CAPACITY];
};

static struct list items, listeners;
static int told[CAPACITY];

static void insert(struct list *list, int index, int element)
{
    assert(index <= list->size && "no such position");
    for (int i = list->size; i > index; i--)
        list->elements[i] = list->elements[i - 1];
    list->elements[index] = element;
    list->size = list->size + 1;
    list->changes = list->changes + 1;
}

static void remove_at(struct list *list, int index)
{
    assert(index < list->size && "no such position");
    for (int i = index; i < list->size - 1; i++)
        list->elements[i] = list->elements[i + 1];
    list->size = list->size - 1;
    list->changes = list->changes + 1;
}

static int position(const struct list *list, int element)
{
    int at = 0;
    while (at < list->size && list->elements[at] < element)
        at++;
    return at;
}

static void tell_listeners(int value)
{
    int expected = listeners.changes;
    for (int i = 0; i != listeners.size; i++) {
        assert(listeners.changes == expected && "changed while it was iterated");
        told[listeners.elements[i]] = value;
    }
}

static void add(int period)
{
    insert(&items, position(&items, period), period);
    tell_listeners(period);
}

static void add_listener(int listener)
{
    insert(&listeners, listeners.size, listener);
}

static void remove_listener(int listener)
{
    remove_at(&listeners, position(&listeners, listener));
}

static void *first_suffix(void *arg)
{
    (void)arg;
    add(3);
    remove_listener(0);
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    add(2);
    add_listener(2);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    add_listener(0);
    add_listener(1);
    add(1);
    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
