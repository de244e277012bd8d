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
    printf("%d points, %d threads, checksum %lx\n", points_in_all(), options.threads, sum);
    assert(times.end != 0 && "the end time was set");
    printf("end at %ld us\n", times.end);
    printf("total time %ld us\n", times.end - times.start);
    printf("without start-up %ld us\n", times.end - times.init_done);
}

static void print_statistics(void)
{
    for (int i = 0; i < options.threads; i++)
        printf("thread %d: rows %d to %d, %ld us\n", i, first_row(i), first_row(i + 1) - 1, load.busy[i]);
    printf("slowest: thread %d with %ld us\n", load.slowest, load.longest);
    printf("steps: %d transposed, %d transformed, %d twiddled, %d copied\n", progress.transposed, progress.transformed,
           progress.twiddled, progress.copied);
}

static struct complex *point(int index)
{
    return row_of(&points, index / root) + index % root;
}

static void print_points(void)
{
    int step = points_in_all() > 256 ? points_in_all() / 256 : 1;
    for (int i = 0; i < points_in_all(); i += step)
        printf("%6d %12.6f %12.6f\n", i, point(i)->re, point(i)->im);
}

/// The definition of the transform, for one point.
static struct complex direct_point(int index, int all, unsigned seed)
{
    struct complex sum = { 0.0, 0.0 };
    double sign = direction();
    for (int k = 0; k < all; k++) {
        struct complex root = unit_root(sign * angle_of((long)index * k, all));
        double re = signal_at(2 * k, seed), im = signal_at(2 * k + 1, seed);
        sum.re += re * root.re - im * root.im;
        sum.im += re * root.im + im * root.re;
    }
    if (options.inverse) {
        sum.re /= all;
        sum.im /= all;
    }
    return sum;
}

/// Compares some points with the definition; says how many are wrong.
static int check_points(void)
{
    int wrong = 0;
    for (int i = 0; i < 16; i++) {
        int index = (i * 2654435761u ^ 0x155) % points_in_all();
        struct complex expected = direct_point(index, points_in_all(), options.seed);
        struct complex met = *point(index);
        if (fabs(met.re - expected.re) + fabs(met.im - expected.im) > 1e-6) {
            printf("point %d is wrong: %g %g instead of %g %g\n", index, met.re, met.im, expected.re, expected.im);
            wrong++;
        }
    }
    printf(wrong ? "the check failed\n" : "the check passed\n");
    return wrong;
}
