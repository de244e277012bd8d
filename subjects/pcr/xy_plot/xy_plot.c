/* A plot keeps its data sets in a map ordered by index (JFreeChart's XYPlot). Cloning the plot
 * goes through the map without a lock, and its iterator refuses to go on when another thread puts
 * a data set into the map meanwhile. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define CAPACITY 4

struct map {
    int size;
    int changes;
    int keys[CAPACITY];
    const char *values[CAPACITY];
};

struct plot {
    struct map datasets;
    const char *outline;
};

static struct plot plot;

static void put(struct map *map, int key, const char *value)
{
    int at = map->size;
    while (at > 0 && map->keys[at - 1] > key) {
        map->keys[at] = map->keys[at - 1];
        map->values[at] = map->values[at - 1];
        at--;
    }
    map->keys[at] = key;
    map->values[at] = value;
    map->size = map->size + 1;
    map->changes = map->changes + 1;
}

static const char *dataset(int index)
{
    for (int i = 0; i < plot.datasets.size; i++)
        if (plot.datasets.keys[i] == index)
            return plot.datasets.values[i];
    return NULL;
}

static void set_dataset(int index, const char *data)
{
    put(&plot.datasets, index, data);
}

static void set_outline(const char *stroke)
{
    plot.outline = stroke;
}

static struct plot clone_plot(void)
{
    struct plot copy = {.outline = plot.outline};
    int expected = plot.datasets.changes;
    for (int i = 0; i != plot.datasets.size; i++) {
        assert(plot.datasets.changes == expected && "changed while it was iterated");
        put(&copy.datasets, plot.datasets.keys[i], plot.datasets.values[i]);
    }
    return copy;
}

static void *first_suffix(void *arg)
{
    (void)arg;
    set_outline(NULL);
    dataset(-2);
    clone_plot();
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    dataset(-2);
    set_dataset(0, "cost");
    set_outline("dashed");
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    set_dataset(1, "price");
    set_dataset(2, "volume");
    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
