// Draws a suite. Some functions are in many inputs and others in few, as in suites that people write.

#define THREADS_OF_INPUT 3
#define FUNCTIONS_OF_THREAD 4

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 10) % below;
}

/// The smallest of three numbers: low functions come often, high ones seldom.
static unsigned draw_function(unsigned *seed)
{
    unsigned least = FUNCTIONS;
    for (int i = 0; i < 3; i++) {
        unsigned drawn = draw(seed, FUNCTIONS);
        if (drawn < least)
            least = drawn;
    }
    return least;
}

static void print_suite(int inputs, unsigned seed)
{
    printf("program = \"growth.c\"\n");
    for (int input = 0; input < inputs; input++) {
        printf("\n[[input]]\nname = \"drawn-%d\"\nargs = [", input);
        for (int thread = 0; thread < THREADS_OF_INPUT; thread++) {
            printf("%s\"", thread > 0 ? ", " : "");
            for (int i = 0; i < FUNCTIONS_OF_THREAD; i++)
                printf("%s%u", i > 0 ? "," : "", draw_function(&seed));
            printf("\"");
        }
        printf("]\n");
    }
}
