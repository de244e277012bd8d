// The transform itself: rows are transformed, turned with twiddle factors, and transposed in between.

#define PI 3.14159265358979323846
#define TERMS 40

static pthread_barrier_t everyone;

/// How far the threads are, for whoever looks on with a debugger. Nothing protects it.
static struct {
    int transposed;
    int transformed;
    int twiddled;
    int copied;
    double largest;
} progress;

static void wait_for_all(void)
{
    pthread_barrier_wait(&everyone);
}

/// A sum that carries along what rounding took from it.
struct exact_sum {
    double sum;
    double lost;
};

static struct exact_sum add(struct exact_sum to, double term)
{
    double exact = term - to.lost;
    double sum = to.sum + exact;
    struct exact_sum result = { sum, (sum - to.sum) - exact };
    return result;
}

/// e^(i * angle) by its series, to the last digit: no table that threads would share.
static struct complex unit_root(double angle)
{
    struct exact_sum cosine = { 1.0, 0.0 }, sine = { 0.0, 0.0 };
    double term = 1.0;
    for (int k = 1; k <= TERMS; k++) {
        term *= angle / k;
        double signed_term = k % 4 == 2 || k % 4 == 3 ? -term : term;
        if (k % 2 == 0)
            cosine = add(cosine, signed_term);
        else
            sine = add(sine, signed_term);
    }
    struct complex root = { cosine.sum, sine.sum };
    return root;
}

/// The angle of the k-th of n roots, between minus pi and pi.
static double angle_of(long k, long n)
{
    k %= n;
    if (2 * k > n)
        k -= n;
    return 2.0 * PI * k / n;
}

/// The sign of all angles: forth or back.
static double direction(void)
{
    return options.inverse ? 1.0 : -1.0;
}

static int reversed_bits(int index, int bits)
{
    int reversed = 0;
    for (int i = 0; i < bits; i++) {
        reversed = reversed << 1 | (index & 1);
        index >>= 1;
    }
    return reversed;
}

static void swap_points(struct complex *one, struct complex *other)
{
    struct complex kept = *one;
    *one = *other;
    *other = kept;
}

static void reverse_row(struct complex *row, int bits)
{
    for (int i = 0; i < 1 << bits; i++) {
        int j = reversed_bits(i, bits);
        if (i < j)
            swap_points(row + i, row + j);
    }
}

/// Joins the results of two halves of `width` points that begin at `row`.
static void butterflies(struct complex *row, int width, double sign)
{
    for (int i = 0; i < width; i++) {
        struct complex root = unit_root(sign * angle_of(i, 2 * width));
        struct complex kept = row[i], high = row[i + width];
        double re = high.re * root.re - high.im * root.im;
        double im = high.re * root.im + high.im * root.re;
        row[i].re = kept.re + re;
        row[i].im = kept.im + im;
        row[i + width].re = kept.re - re;
        row[i + width].im = kept.im - im;
    }
}

static void transform_row(struct complex *row, int length)
{
    double sign = direction();
    reverse_row(row, options.log_points / 2);
    for (int width = 1; width < length; width *= 2)
        for (int low = 0; low < length; low += 2 * width)
            butterflies(row + low, width, sign);
    if (row->re > progress.largest)
        progress.largest = row->re;
}

static void transform_rows(struct matrix *matrix, int first, int end)
{
    for (int i = first; i < end; i++) {
        transform_row(row_of(matrix, i), root);
        progress.transformed++;
    }
}

static void twiddle_row(struct complex *row, int number, int length)
{
    double sign = direction();
    for (int j = 0; j < length; j++) {
        struct complex root = unit_root(sign * angle_of((long)number * j, (long)length * length));
        struct complex old = row[j];
        row[j].re = old.re * root.re - old.im * root.im;
        row[j].im = old.re * root.im + old.im * root.re;
    }
    progress.twiddled++;
}

/// Writes rows `first` to `end` of `to`, which are columns of `from` that other threads wrote.
static void transpose(struct matrix *from, struct matrix *to, int first, int end)
{
    int length = root;
    for (int i = first; i < end; i++) {
        struct complex *row = row_of(to, i);
        for (int j = 0; j < length; j++)
            row[j] = row_of(from, j)[i];
        progress.transposed++;
    }
}

static void copy_row(struct complex *from, struct complex *to, int length, double factor)
{
    for (int j = 0; j < length; j++) {
        to[j].re = from[j].re * factor;
        to[j].im = from[j].im * factor;
    }
    progress.copied++;
}

/// The six steps, for this thread's rows. All threads have to be through with a step where the next one reads
/// what others wrote.
static void transform(int first, int end)
{
    int all = points_in_all();
    double factor = options.inverse ? 1.0 / all : 1.0;
    transpose(&points, &turned, first, end);
    transform_rows(&turned, first, end);
    for (int i = first; i < end; i++)
        twiddle_row(row_of(&turned, i), i, root);
    wait_for_all();
    transpose(&turned, &points, first, end);
    transform_rows(&points, first, end);
    wait_for_all();
    transpose(&points, &turned, first, end);
    wait_for_all();
    for (int i = first; i < end; i++)
        copy_row(row_of(&turned, i), row_of(&points, i), root, factor);
}
