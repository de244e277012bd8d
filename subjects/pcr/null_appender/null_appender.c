/* An appender with a severity threshold (log4j's NullAppender): without a threshold everything is
 * severe enough, and the priority that is asked about is not looked at. The threshold is not
 * locked: a thread that has just removed it asks about no priority at all, which is fine unless
 * the other thread sets a threshold in between. */
#include <pthread.h>
#include <stddef.h>

struct priority {
    int level;
};

static const struct priority warn = {30000};
static const struct priority *threshold;

static void set_threshold(const struct priority *priority)
{
    threshold = priority;
}

static int is_as_severe(const struct priority *priority)
{
    if (threshold == NULL)
        return 1;
    return priority->level >= threshold->level;
}

static void *first_suffix(void *arg)
{
    (void)arg;
    set_threshold(NULL);
    is_as_severe(NULL);
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    is_as_severe(&warn);
    set_threshold(&warn);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
