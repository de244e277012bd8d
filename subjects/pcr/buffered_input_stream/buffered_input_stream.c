/* A buffered stream (java.io.BufferedInputStream of JDK 1.1): reading holds the stream's lock,
 * checks that the stream is open and then fills its buffer from the source. Closing takes no lock
 * and can remove the source between check and use. */
#include <pthread.h>
#include <stddef.h>

#define CLOSED (-1)
#define END (-2)

struct source {
    int left;
};

static struct source file = {8};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct source *in = &file;

static int next_byte(struct source *source)
{
    if (source->left == 0)
        return END;
    source->left--;
    return 'x';
}

static int is_open(void)
{
    return in != NULL;
}

static int read_byte(void)
{
    int byte = CLOSED;
    pthread_mutex_lock(&lock);
    if (is_open())
        byte = next_byte(in);
    pthread_mutex_unlock(&lock);
    return byte;
}

static void close_stream(void)
{
    in = NULL;
}

static void *first_suffix(void *arg)
{
    (void)arg;
    read_byte();
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    close_stream();
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
