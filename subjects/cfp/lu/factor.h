// The factoring: what is done to one block, and in which order a thread does it to its blocks.

static pthread_barrier_t everyone;

/// How far the threads are, for whoever looks on with a debugger. Nothing protects it.
static struct {
    int diagonals;
    int divided;
    int reduced;
    int step;
    double smallest_pivot;
} progress;

static void wait_for_all(void)
{
    pthread_barrier_wait(&everyone);
}

/// Adds a multiple of one column to another.
static void daxpy(double *to, const double *from, int length, double factor)
{
    for (int i = 0; i < length; i++)
        to[i] += factor * from[i];
}

static void scale_column(double *column, int length, double divisor)
{
    for (int i = 0; i < length; i++)
        column[i] /= divisor;
}

/// A pivot near 0 would make the result worthless; the smallest one is kept for the report.
static void note_pivot(double pivot)
{
    if (progress.smallest_pivot == 0.0 || fabs(pivot) < progress.smallest_pivot)
        progress.smallest_pivot = fabs(pivot);
}

/// Factors a block on the diagonal in place.
static void lu0(double *diagonal, int size)
{
    for (int k = 0; k < size; k++) {
        double *pivot = diagonal + k * size;
        scale_column(pivot + k + 1, size - k - 1, pivot[k]);
        for (int j = k + 1; j < size; j++) {
            double *column = diagonal + j * size;
            daxpy(column + k + 1, pivot + k + 1, size - k - 1, -column[k]);
        }
        note_pivot(pivot[k]);
    }
    progress.diagonals++;
}

/// Divides a block below the diagonal by the upper triangle of the diagonal block.
static void bdiv(double *block, double *diagonal, int size)
{
    for (int k = 0; k < size; k++) {
        scale_column(block + k * size, size, diagonal[k * size + k]);
        for (int j = k + 1; j < size; j++)
            daxpy(block + j * size, block + k * size, size, -diagonal[j * size + k]);
    }
    progress.divided++;
}

/// Divides a block to the right of the diagonal by the lower triangle of the diagonal block.
static void bmodd(double *block, double *diagonal, int size)
{
    for (int k = 0; k < size; k++)
        for (int j = 0; j < size; j++)
            daxpy(block + j * size + k + 1, diagonal + k * size + k + 1, size - k - 1, -block[j * size + k]);
    progress.divided++;
}

/// Takes the product of a block in the left column and one in the upper row from a block that is left.
static void bmod(double *block, double *left, double *upper, int size)
{
    for (int k = 0; k < size; k++)
        for (int j = 0; j < size; j++)
            daxpy(block + j * size, left + k * size, size, -upper[j * size + k]);
    progress.reduced++;
}

static void factor_diagonal(int self, int step)
{
    if (owner_of(step, step) == self)
        lu0(block_at(step, step), options.block);
}

static void divide_column(int self, int step)
{
    for (int i = step + 1; i < across; i++)
        if (owner_of(i, step) == self)
            bdiv(block_at(i, step), block_at(step, step), options.block);
}

static void divide_row(int self, int step)
{
    for (int j = step + 1; j < across; j++)
        if (owner_of(step, j) == self)
            bmodd(block_at(step, j), block_at(step, step), options.block);
}

static void reduce_rest(int self, int step)
{
    for (int i = step + 1; i < across; i++)
        for (int j = step + 1; j < across; j++)
            if (owner_of(i, j) == self)
                bmod(block_at(i, j), block_at(i, step), block_at(step, j), options.block);
}

/// No barrier ends a step: the next diagonal block is factored by the thread that reduced it.
static void factor(int self)
{
    for (int step = 0; step < across; step++) {
        progress.step = step;
        factor_diagonal(self, step);
        wait_for_all();
        divide_column(self, step);
        divide_row(self, step);
        wait_for_all();
        reduce_rest(self, step);
    }
}
