// What the command line asks for, and how to refuse it.

struct options {
    int size;
    int threads;
    int block;
    int inverse;
    int statistics;
    int check;
    int print;
    int seed;
};

static struct options options = { 64, 4, 8, 0, 0, 0, 0, 1 };

static void give_up(const char *why)
{
    fprintf(stderr, "lu: %s\n", why);
    exit(2);
}

/// The number behind an option letter, as in `-n64`.
static int number_of(const char *option, int least, int most)
{
    char *end;
    long value = strtol(option + 2, &end, 10);
    if (*end != '\0' || end == option + 2 || value < least || value > most) {
        fprintf(stderr, "lu: %s: a number from %d to %d has to follow the letter\n", option, least, most);
        exit(2);
    }
    return (int)value;
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (option[0] != '-')
            give_up("options begin with a dash; the beginning of lu.c lists them");
        switch (option[1]) {
        case 'n': options.size = number_of(option, 2, 4096); break;
        case 'p': options.threads = number_of(option, 1, MAX_THREADS); break;
        case 'b': options.block = number_of(option, 1, 256); break;
        case 'k': options.seed = number_of(option, 0, 1000); break;
        case 'i': options.inverse = 1; break;
        case 's': options.statistics = 1; break;
        case 't': options.check = 1; break;
        case 'o': options.print = 1; break;
        default: give_up("there is no such option; the beginning of lu.c lists them");
        }
    }
    if (options.size % options.block != 0)
        give_up("-n has to be a multiple of -b");
}
