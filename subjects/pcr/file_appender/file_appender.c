/* An appender that writes to a file (log4j's FileAppender). Activating it opens the file when a
 * name is set: opening holds the appender's lock, but the name is checked and read before, and
 * setting the name takes no lock at all. The name can be gone when it is used. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *file_name;
static int writer; /* the descriptor, 0 when closed */
static int opened;

static int open_file(const char *name)
{
    if (name[0] == 0)
        return 0;
    opened = opened + 1;
    return opened;
}

static void replace_writer(const char *name)
{
    pthread_mutex_lock(&lock);
    if (writer != 0)
        writer = 0;
    writer = open_file(name);
    pthread_mutex_unlock(&lock);
}

static void set_file(const char *name)
{
    file_name = name;
}

static void activate_options(void)
{
    if (file_name != NULL)
        replace_writer(file_name);
}

static void *first_suffix(void *arg)
{
    (void)arg;
    set_file(NULL);
    activate_options();
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    activate_options();
    activate_options();
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    set_file("app.log");
    activate_options();
    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
