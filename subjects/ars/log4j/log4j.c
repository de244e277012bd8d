/* Four appenders share one log event whose text form is built lazily. The builder publishes the
 * empty array before it fills it, so another appender copies slots that are still empty.
 *
 * usage: log4j [lines] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS 4
#define MAX_LINES 64

static int *representation;
static int lines = 3;

static void append(const int *text, int count)
{
    for (int i = 0; i < count; i++)
        assert(text[i] != 0 && "line not written yet");
}

static void *appender(void *arg)
{
    int text[MAX_LINES];
    (void)arg;
    if (representation == NULL) {
        representation = calloc(MAX_LINES, sizeof *representation);
        for (int i = 0; i < lines; i++)
            representation[i] = i + 1;
    }
    const int *published = representation;
    for (int i = 0; i < lines; i++)
        text[i] = published[i];
    append(text, lines);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    if (argc > 1)
        lines = atoi(argv[1]);
    if (lines < 1 || lines > MAX_LINES)
        return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, appender, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
