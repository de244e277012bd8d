// What the command line asks for, and how to refuse it.

struct options {
    int decompress;
    int test;
    int threads;
    int block_bytes;
    int kilobytes;
    int seed;
    int to_stdout;
    int verbose;
    int eager;
    int from_stdin;
};

static struct options options = { 0, 0, 2, 4096, 32, 1, 0, 0, 0, 0 };

static void give_up(const char *why)
{
    fprintf(stderr, "compress: %s\n", why);
    exit(2);
}

/// The number behind an option letter, as in `-p2`.
static int number_of(const char *option, int least, int most)
{
    char *end;
    long value = strtol(option + 2, &end, 10);
    if (*end != '\0' || end == option + 2 || value < least || value > most) {
        fprintf(stderr, "compress: %s: a number from %d to %d has to follow the letter\n", option, least, most);
        exit(2);
    }
    return (int)value;
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (option[0] != '-')
            give_up("options begin with a dash; the beginning of compress.c lists them");
        switch (option[1]) {
        case '\0': options.from_stdin = 1; break;
        case 'd': options.decompress = 1; break;
        case 't': options.test = 1; break;
        case 'p': options.threads = number_of(option, 1, MAX_THREADS); break;
        case 'b': options.block_bytes = 1024 * number_of(option, 1, MAX_BLOCK_BYTES / 1024); break;
        case 'n': options.kilobytes = number_of(option, 1, MAX_BLOCKS); break;
        case 'k': options.seed = number_of(option, 0, 1 << 30); break;
        case 'c': options.to_stdout = 1; break;
        case 'v': options.verbose = 1; break;
        case 'e': options.eager = 1; break;
        default: give_up("there is no such option; the beginning of compress.c lists them");
        }
    }
}
