// The matrix in blocks: who owns which, how they are filled, and how single elements are reached.

static double **blocks; // each holds its columns one after the other
static int across;      // blocks in a row

#define QUADRATURE 1500

static int elements_of_block(void)
{
    return options.block * options.block;
}

static double *block_at(int row, int column)
{
    return blocks[row * across + column];
}

/// Blocks are dealt out to threads as on a chess board, so that all have work until the end.
static int owner_of(int row, int column)
{
    return (row + 3 * column) % options.threads;
}

static double *element_at(int row, int column)
{
    int size = options.block;
    return block_at(row / size, column / size) + column % size * size + row % size;
}

static void make_blocks(void)
{
    across = options.size / options.block;
    blocks = malloc((size_t)across * across * sizeof(double *));
    for (int i = 0; blocks != NULL && i < across * across; i++) {
        blocks[i] = malloc(elements_of_block() * sizeof(double));
        if (blocks[i] == NULL)
            give_up("there is not enough memory; make -n smaller");
    }
    if (blocks == NULL)
        give_up("there is not enough memory; make -n smaller");
}

static void free_blocks(void)
{
    for (int i = 0; i < across * across; i++)
        free(blocks[i]);
    free(blocks);
}

/// An element of the matrix: how strongly a rod at `row` is felt along a rod at `column`, by a sum over points
/// of the second. The diagonal is large, so that factoring needs no pivots.
static double force_between(int row, int column, int size, int seed)
{
    double sum = 0.0;
    double distance = row - column + 0.001 * seed;
    for (int i = 0; i < QUADRATURE; i++) {
        double along = (i + 0.5) / QUADRATURE - 0.5;
        sum += 1.0 / (1.0 + (distance + along) * (distance + along));
    }
    sum /= QUADRATURE;
    return row == column ? sum + size / 8.0 + 2.0 : sum;
}

static void fill_blocks(void)
{
    for (int j = 0; j < options.size; j++)
        for (int i = 0; i < options.size; i++)
            *element_at(i, j) = force_between(i, j, options.size, options.seed);
}

static double sum_of_block(double *block)
{
    double sum = 0.0;
    for (int i = 0; i < elements_of_block(); i += 8)
        sum += block[i];
    return sum;
}

/// Brings a thread's blocks near it before the time is taken.
static void touch_blocks(int self)
{
    double sum = 0.0;
    for (int i = 0; i < across; i++)
        for (int j = 0; j < across; j++)
            if (owner_of(i, j) == self)
                sum += sum_of_block(block_at(i, j));
    if (sum != sum)
        give_up("the matrix holds something that is no number");
}

/// Folds a number into a sum, to so many digits that two runs can be compared in print.
static unsigned long fold(unsigned long sum, double number)
{
    sum ^= (unsigned long)(long)(number * 1e6 + (number < 0 ? -0.5 : 0.5));
    for (int round = 0; round < 1000; round++) {
        sum ^= sum >> 29;
        sum *= 0xbf58476d1ce4e5b9ul;
        sum ^= sum >> 32;
    }
    return sum;
}

/// The sum takes main longer than its share of the factoring. That is why the bug is seldom seen: the other
/// threads have long ended when main reports.
static unsigned long checksum(void)
{
    unsigned long sum = 0;
    for (int i = 0; i < across * across; i++)
        for (int k = 0; k < elements_of_block(); k++)
            sum = fold(sum, blocks[i][k]);
    return sum;
}
