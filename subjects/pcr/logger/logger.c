/* A logger asks its filter, if it has one, whether to log (java.util.logging.Logger of JDK 1.4.1).
 * Logging holds the logger's lock, setting the filter does not: the filter can be taken away
 * between the question whether there is one and its use. */
#include <pthread.h>
#include <stddef.h>

#define WARNING 900
#define OFF 2147483647

struct filter {
    int least;
};

static const struct filter only_warnings = {WARNING};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct filter *filter;

static int is_loggable(const struct filter *f, int level)
{
    return level >= f->least;
}

static int log_record(int level)
{
    int logged = 1;
    pthread_mutex_lock(&lock);
    if (filter != NULL)
        logged = is_loggable(filter, level);
    pthread_mutex_unlock(&lock);
    return logged;
}

static void set_filter(const struct filter *f)
{
    filter = f;
}

static void *first_suffix(void *arg)
{
    (void)arg;
    set_filter(&only_warnings);
    log_record(WARNING);
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    set_filter(NULL);
    log_record(OFF);
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
