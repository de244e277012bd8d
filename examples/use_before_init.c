/* Use before initialisation: main starts the logger first and sets up its settings afterwards. The
 * new thread is usually slow enough to start that the settings are there in time. When it is not,
 * it follows a null pointer and the program crashes.
 *
 *     threadbare hunt examples/use_before_init.c
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct settings {
    int verbosity;
};

static struct settings *settings;

static void *logger(void *unused)
{
    (void)unused;
    if (settings->verbosity > 0)
        puts("logger: started");
    return NULL;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, logger, NULL);

    struct settings *fresh = malloc(sizeof *fresh);
    fresh->verbosity = 1;
    settings = fresh; /* belongs before pthread_create */

    pthread_join(thread, NULL);
    free(fresh);
    return 0;
}
