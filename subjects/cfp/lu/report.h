// Times, statistics, and what is printed of the result.

static struct {
    long start;
    long init_done;
    long end;
} times;

static struct {
    long busy[MAX_THREADS];
    long longest;
    int slowest;
} load;

/// Microseconds since some beginning, never 0.
static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000L + time.tv_nsec / 1000 + 1;
}

/// The slowest thread is looked for without a lock: it is a hint.
static void note_load(int self, long microseconds)
{
    load.busy[self] = microseconds;
    if (microseconds > load.longest) {
        load.longest = microseconds;
        load.slowest = self;
    }
}

static void report_times(unsigned long sum)
{
    printf("%d rows, %d threads, checksum %lx\n", options.size, options.threads, sum);
    assert(times.end != 0 && "the end time was set");
    printf("end at %ld us\n", times.end);
    printf("total time %ld us\n", times.end - times.start);
    printf("without start-up %ld us\n", times.end - times.init_done);
}

static int blocks_of(int thread)
{
    int owned = 0;
    for (int i = 0; i < across; i++)
        for (int j = 0; j < across; j++)
            owned += owner_of(i, j) == thread;
    return owned;
}

static void print_statistics(void)
{
    for (int i = 0; i < options.threads; i++)
        printf("thread %d: %d blocks, %ld us\n", i, blocks_of(i), load.busy[i]);
    printf("slowest: thread %d with %ld us\n", load.slowest, load.longest);
    printf("blocks: %d factored, %d divided, %d reduced; smallest pivot %g\n", progress.diagonals, progress.divided,
           progress.reduced, progress.smallest_pivot);
}

static void print_triangles(void)
{
    int shown = options.size < 16 ? options.size : 16;
    for (int i = 0; i < shown; i++) {
        for (int j = 0; j < shown; j++)
            printf("%9.5f", *element_at(i, j));
        printf("\n");
    }
}

/// Solves lower * y = vector in place; the diagonal of the lower triangle is all ones.
static void solve_lower(double *vector)
{
    for (int j = 0; j < options.size; j++)
        for (int i = j + 1; i < options.size; i++)
            vector[i] -= *element_at(i, j) * vector[j];
}

static void solve_upper(double *vector)
{
    for (int j = options.size - 1; j >= 0; j--) {
        vector[j] /= *element_at(j, j);
        for (int i = 0; i < j; i++)
            vector[i] -= *element_at(i, j) * vector[j];
    }
}

static void print_inverse_column(void)
{
    double *vector = calloc(options.size, sizeof(double));
    if (vector == NULL)
        give_up("there is not enough memory; make -n smaller");
    vector[0] = 1.0;
    solve_lower(vector);
    solve_upper(vector);
    for (int i = 0; i < options.size; i++)
        printf("%9.6f%s", vector[i], i % 8 == 7 || i + 1 == options.size ? "\n" : " ");
    free(vector);
}

/// An element of lower * upper.
static double product_at(int row, int column)
{
    int least = row < column ? row : column;
    double sum = row <= column ? *element_at(row, column) : 0.0;
    for (int k = 0; k < least + (row > column); k++)
        sum += *element_at(row, k) * *element_at(k, column);
    return sum;
}

/// Compares the product of the triangles with the matrix in some places; says how many are wrong.
static int check_product(void)
{
    int wrong = 0;
    for (int i = 0; i < options.size; i++) {
        int row = i * 7 % options.size, column = i * 5 % options.size;
        double expected = force_between(row, column, options.size, options.seed);
        if (fabs(product_at(row, column) - expected) > 1e-9 * options.size) {
            printf("%d, %d is wrong: %g instead of %g\n", row, column, product_at(row, column), expected);
            wrong++;
        }
    }
    printf(wrong ? "the check failed\n" : "the check passed\n");
    return wrong;
}
