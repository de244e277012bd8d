/* A readers-writers lock in which a reader may enter when no writer is active *or* none waits,
 * where it should be *and*. A reader then reads while a writer writes. Waiting writers queue up
 * with a monitor each, so that they are served in order.
 *
 * usage: readers_writers [iterations] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define WRITERS 2

struct monitor {
    pthread_mutex_t lock;
    pthread_cond_t turn;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t readers_turn = PTHREAD_COND_INITIALIZER;
static int active_readers, active_writers, waiting_readers;
static struct monitor *waiting_writers[WRITERS];
static int waiting_writer_count;
static int writing;
static int iterations = 3;

static void let_writer_in(void)
{
    if (waiting_writer_count == 0)
        return;
    struct monitor *oldest = waiting_writers[0];
    waiting_writers[0] = waiting_writers[1];
    waiting_writer_count--;
    pthread_mutex_lock(&oldest->lock);
    pthread_cond_signal(&oldest->turn);
    pthread_mutex_unlock(&oldest->lock);
    active_writers++;
}

static void let_readers_in(void)
{
    pthread_cond_broadcast(&readers_turn);
    active_readers = waiting_readers;
    waiting_readers = 0;
}

static void start_reading(void)
{
    pthread_mutex_lock(&lock);
    if (active_writers == 0 || waiting_writer_count == 0) {
        active_readers++;
    } else {
        waiting_readers++;
        pthread_cond_wait(&readers_turn, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static void stop_reading(void)
{
    pthread_mutex_lock(&lock);
    active_readers--;
    if (active_readers == 0)
        let_writer_in();
    pthread_mutex_unlock(&lock);
}

static void start_writing(void)
{
    struct monitor *mine = malloc(sizeof *mine);
    pthread_mutex_init(&mine->lock, NULL);
    pthread_cond_init(&mine->turn, NULL);
    pthread_mutex_lock(&mine->lock);
    pthread_mutex_lock(&lock);
    if (waiting_writer_count == 0 && active_readers == 0 && active_writers == 0) {
        active_writers++;
        pthread_mutex_unlock(&lock);
    } else {
        waiting_writers[waiting_writer_count++] = mine;
        pthread_mutex_unlock(&lock);
        pthread_cond_wait(&mine->turn, &mine->lock);
    }
    pthread_mutex_unlock(&mine->lock);
}

static void stop_writing(void)
{
    pthread_mutex_lock(&lock);
    active_writers--;
    if (waiting_readers > 0)
        let_readers_in();
    else
        let_writer_in();
    pthread_mutex_unlock(&lock);
}

static void *reader(void *arg)
{
    (void)arg;
    for (int i = 0; i < iterations; i++) {
        start_reading();
        assert(writing == 0);
        stop_reading();
    }
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    for (int i = 0; i < iterations; i++) {
        start_writing();
        writing = writing + 1;
        writing = writing - 1;
        stop_writing();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[WRITERS + 1];

    if (argc > 1)
        iterations = atoi(argv[1]);
    for (int i = 0; i <= WRITERS; i++)
        pthread_create(&threads[i], NULL, i < WRITERS ? writer : reader, NULL);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
