// What all contexts share.

struct atom;

#define STANDARD_ATOMS 6
#define TALLIES 8

struct atom_state {
    struct atom **table;
    int count;
    struct atom *last; // a hint: the same name is often asked for again
    struct atom *standard[STANDARD_ATOMS];
};

static struct {
    pthread_mutex_t mutex; // contexts, tallies
    int contexts;
    double tallies[TALLIES];
    pthread_mutex_t atoms_mutex;
    struct atom_state atoms;
    struct {
        long bytes;   // since the last round
        long largest; // single allocation
        int rounds;
        int objects;
        int strings;
    } collector; // nothing protects it: it says when to do something, not what
} runtime = { PTHREAD_MUTEX_INITIALIZER, 0, { 0 }, PTHREAD_MUTEX_INITIALIZER, { NULL, 0, NULL, { NULL } }, { 0, 0, 0, 0, 0 } };

#define BYTES_TO_A_ROUND 65536

/// Counts towards the next round of collecting. Contexts are freed whole, so a round only counts.
static void note_allocation(long size)
{
    runtime.collector.bytes += size;
    if (size > runtime.collector.largest)
        runtime.collector.largest = size;
    if (runtime.collector.bytes > BYTES_TO_A_ROUND) {
        runtime.collector.bytes = 0;
        runtime.collector.rounds++;
    }
}

static void print_collector(void)
{
    printf("%d rounds, %d objects, %d strings, the largest allocation %ld bytes\n", runtime.collector.rounds,
           runtime.collector.objects, runtime.collector.strings, runtime.collector.largest);
}
