// What the command line asks for, and how to refuse it.

struct options {
    int log_points;
    int threads;
    int log_line;
    int inverse;
    int statistics;
    int check;
    int print;
    unsigned seed;
};

static struct options options = { 12, 4, 4, 0, 0, 0, 0, 1 };

static void give_up(const char *why)
{
    fprintf(stderr, "fft: %s\n", why);
    exit(2);
}

/// The number behind an option letter, as in `-m12`.
static int number_of(const char *option, int least, int most)
{
    char *end;
    long value = strtol(option + 2, &end, 10);
    if (*end != '\0' || end == option + 2 || value < least || value > most) {
        fprintf(stderr, "fft: %s: a number from %d to %d has to follow the letter\n", option, least, most);
        exit(2);
    }
    return (int)value;
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (option[0] != '-')
            give_up("options begin with a dash; the beginning of fft.c lists them");
        switch (option[1]) {
        case 'm': options.log_points = number_of(option, 2, 20); break;
        case 'p': options.threads = number_of(option, 1, MAX_THREADS); break;
        case 'l': options.log_line = number_of(option, 4, 12); break;
        case 'k': options.seed = (unsigned)number_of(option, 0, 1 << 30); break;
        case 'i': options.inverse = 1; break;
        case 's': options.statistics = 1; break;
        case 't': options.check = 1; break;
        case 'o': options.print = 1; break;
        default: give_up("there is no such option; the beginning of fft.c lists them");
        }
    }
    if (options.log_points % 2 != 0)
        give_up("-m has to be even, since the points are a square matrix");
    if (1 << (options.log_points / 2) < options.threads)
        give_up("there are more threads than rows; make -m larger or -p smaller");
}
