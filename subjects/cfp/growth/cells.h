// The cells and the functions that work on them: four for each cell. Each function is written out on a line of its
// own, so that what is found in it has a line of its own.

/// What a function does besides touching memory.
static unsigned churn(unsigned value)
{
    for (int i = 0; i < 4000; i++) {
        value *= 16777619u;
        value ^= value >> 15;
    }
    return value;
}

struct cell {
    pthread_mutex_t mutex;
    unsigned loose;
    unsigned guarded;
    unsigned table[32];
};

#define CELL(name) static struct cell name = { PTHREAD_MUTEX_INITIALIZER, 1, 1, { 0 } };

/// Adds without a lock.
#define COUNT(name)                                               \
    static void count_##name(void)                                \
    {                                                             \
        for (int i = 0; i < 32; i++)                              \
            name.loose += 3;                                      \
        churn(1);                                                 \
    }

/// Adds with the lock.
#define GUARD(name)                                               \
    static void guard_##name(void)                                \
    {                                                             \
        pthread_mutex_lock(&name.mutex);                          \
        for (int i = 0; i < 32; i++)                              \
            name.table[i] = name.guarded++;                       \
        pthread_mutex_unlock(&name.mutex);                        \
        churn(2);                                                 \
    }

/// Looks, without the lock.
#define WATCH(name)                                               \
    static void watch_##name(void)                                \
    {                                                             \
        unsigned sum = name.guarded;                              \
        for (int i = 0; i < 32; i++)                              \
            sum += name.table[i];                                 \
        churn(sum);                                               \
    }

/// Calls the first two, and changes the cell itself.
#define REBUILD(name)                                             \
    static void rebuild_##name(void)                              \
    {                                                             \
        count_##name();                                           \
        guard_##name();                                           \
        name.loose = churn(name.loose);                           \
    }

CELL(anchor)
COUNT(anchor)
GUARD(anchor)
WATCH(anchor)
REBUILD(anchor)

CELL(beacon)
COUNT(beacon)
GUARD(beacon)
WATCH(beacon)
REBUILD(beacon)

CELL(cellar)
COUNT(cellar)
GUARD(cellar)
WATCH(cellar)
REBUILD(cellar)

CELL(dynamo)
COUNT(dynamo)
GUARD(dynamo)
WATCH(dynamo)
REBUILD(dynamo)

CELL(engine)
COUNT(engine)
GUARD(engine)
WATCH(engine)
REBUILD(engine)

CELL(fender)
COUNT(fender)
GUARD(fender)
WATCH(fender)
REBUILD(fender)

CELL(girder)
COUNT(girder)
GUARD(girder)
WATCH(girder)
REBUILD(girder)

CELL(hammer)
COUNT(hammer)
GUARD(hammer)
WATCH(hammer)
REBUILD(hammer)

CELL(ingot)
COUNT(ingot)
GUARD(ingot)
WATCH(ingot)
REBUILD(ingot)

CELL(jigsaw)
COUNT(jigsaw)
GUARD(jigsaw)
WATCH(jigsaw)
REBUILD(jigsaw)

CELL(kettle)
COUNT(kettle)
GUARD(kettle)
WATCH(kettle)
REBUILD(kettle)

CELL(ladder)
COUNT(ladder)
GUARD(ladder)
WATCH(ladder)
REBUILD(ladder)

CELL(magnet)
COUNT(magnet)
GUARD(magnet)
WATCH(magnet)
REBUILD(magnet)

CELL(needle)
COUNT(needle)
GUARD(needle)
WATCH(needle)
REBUILD(needle)

CELL(organ)
COUNT(organ)
GUARD(organ)
WATCH(organ)
REBUILD(organ)

#define FUNCTIONS 60

static void (*const functions[FUNCTIONS])(void) = {
    count_anchor, guard_anchor, watch_anchor, rebuild_anchor,
    count_beacon, guard_beacon, watch_beacon, rebuild_beacon,
    count_cellar, guard_cellar, watch_cellar, rebuild_cellar,
    count_dynamo, guard_dynamo, watch_dynamo, rebuild_dynamo,
    count_engine, guard_engine, watch_engine, rebuild_engine,
    count_fender, guard_fender, watch_fender, rebuild_fender,
    count_girder, guard_girder, watch_girder, rebuild_girder,
    count_hammer, guard_hammer, watch_hammer, rebuild_hammer,
    count_ingot, guard_ingot, watch_ingot, rebuild_ingot,
    count_jigsaw, guard_jigsaw, watch_jigsaw, rebuild_jigsaw,
    count_kettle, guard_kettle, watch_kettle, rebuild_kettle,
    count_ladder, guard_ladder, watch_ladder, rebuild_ladder,
    count_magnet, guard_magnet, watch_magnet, rebuild_magnet,
    count_needle, guard_needle, watch_needle, rebuild_needle,
    count_organ, guard_organ, watch_organ, rebuild_organ,
};

static struct cell *const cells[] = {
    &anchor, &beacon, &cellar, &dynamo, &engine,
    &fender, &girder, &hammer, &ingot, &jigsaw,
    &kettle, &ladder, &magnet, &needle, &organ,
};

static void print_cells(void)
{
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        printf("%u%c", cells[i]->loose, i + 1 < sizeof cells / sizeof *cells ? ' ' : '\n');
}
