// The two matrices, where their rows are, and how they are filled.

struct complex {
    double re;
    double im;
};

struct matrix {
    struct complex *cells;
    int stride; // from one row to the next
};

static struct matrix points; // the signal, then its transform
static struct matrix turned; // the transposed matrix that the steps in between work on
static int root;             // rows, and complex numbers in a row

static int points_in_all(void)
{
    return root * root;
}

/// Rows are padded by a cache line, so that the columns of a matrix do not all fall on the same lines.
static int row_padding(void)
{
    return (1 << options.log_line) / (int)sizeof(struct complex);
}

static struct complex *row_of(struct matrix *matrix, int row)
{
    return matrix->cells + (size_t)row * matrix->stride;
}

/// The first row of a thread; its last is the one before the next thread's first.
static int first_row(int thread)
{
    return root * thread / options.threads;
}

static void make_matrix(struct matrix *matrix)
{
    matrix->stride = root + row_padding();
    matrix->cells = malloc((size_t)root * matrix->stride * sizeof(struct complex));
    if (matrix->cells == NULL)
        give_up("there is not enough memory; make -m smaller");
}

static void make_matrices(void)
{
    root = 1 << (options.log_points / 2);
    make_matrix(&points);
    make_matrix(&turned);
}

static void free_matrices(void)
{
    free(points.cells);
    free(turned.cells);
}

/// A number between -1 and 1 that depends on the seed and the index only.
static double signal_at(unsigned index, unsigned seed)
{
    unsigned mixed = (index + 1) * 2654435761u ^ (seed * 40503u);
    mixed ^= mixed >> 15;
    mixed *= 2246822519u;
    mixed ^= mixed >> 13;
    mixed *= 3266489917u;
    mixed ^= mixed >> 16;
    return mixed / 2147483648.0 - 1.0;
}

static void fill_signal(void)
{
    for (int i = 0; i < root; i++) {
        struct complex *row = row_of(&points, i);
        for (int j = 0; j < root; j++) {
            row[j].re = signal_at(2 * (i * root + j), options.seed);
            row[j].im = signal_at(2 * (i * root + j) + 1, options.seed);
        }
    }
}

/// Brings a thread's rows near it before the time is taken.
static void touch_rows(struct matrix *matrix, int first, int end)
{
    double sum = 0.0;
    for (int i = first; i < end; i++) {
        struct complex *row = row_of(matrix, i);
        if (matrix == &turned)
            memset(row, 0, root * sizeof(struct complex));
        for (int j = 0; j < root; j += 4)
            sum += row[j].re;
    }
    if (sum != sum)
        give_up("the signal holds something that is no number");
}

/// Folds a number into a sum, to so many digits that two runs can be compared in print.
static unsigned long fold(unsigned long sum, double number)
{
    sum ^= (unsigned long)(long)(number * 1e6 + (number < 0 ? -0.5 : 0.5));
    for (int round = 0; round < 800; round++) {
        sum ^= sum >> 29;
        sum *= 0xbf58476d1ce4e5b9ul;
        sum ^= sum >> 32;
    }
    return sum;
}

/// The sum takes main about as long as its share of the transform. That is why the bug is seldom seen: the
/// other threads have long ended when main reports.
static unsigned long checksum(struct matrix *matrix)
{
    unsigned long sum = 0;
    for (int i = 0; i < root; i++) {
        struct complex *row = row_of(matrix, i);
        for (int j = 0; j < root; j++)
            sum = fold(fold(sum, row[j].re), row[j].im);
    }
    return sum;
}
