/* A database with eight connections. Each changes its own page, looks at three that others change, and goes on as it
   finds them. */
#include <pthread.h>

#define SESSIONS 8

struct page {
    pthread_mutex_t latch;
    int dirty;
    int version;
    int rows;
};

static struct page pages[SESSIONS] = {
    [0 ... SESSIONS - 1] = {.latch = PTHREAD_MUTEX_INITIALIZER},
};
static int log_size, reads[SESSIONS], flushes[SESSIONS];
static pthread_mutex_t log_latch = PTHREAD_MUTEX_INITIALIZER;

/* Whoever changes a page leaves it dirty. */
static void update(int session) {
    struct page *page = &pages[session];
    pthread_mutex_lock(&page->latch);
    page->rows = page->rows + session;
    page->version = page->version + 1;
    page->dirty = 1;
    pthread_mutex_unlock(&page->latch);
    pthread_mutex_lock(&log_latch);
    log_size = log_size + 1;
    pthread_mutex_unlock(&log_latch);
}

/* Whoever finds a page dirty counts a flush, which takes another latch. */
static void scan(int session, int at) {
    struct page *page = &pages[at];
    pthread_mutex_lock(&page->latch);
    reads[session] = page->rows + page->version;
    if (page->dirty) {
        pthread_mutex_lock(&log_latch);
        log_size = log_size + 2;
        pthread_mutex_unlock(&log_latch);
        flushes[session] = flushes[session] + 1;
    }
    pthread_mutex_unlock(&page->latch);
}

/* Every statement is logged. */
static void statement(void) {
    pthread_mutex_lock(&log_latch);
    log_size = log_size + 1;
    pthread_mutex_unlock(&log_latch);
}

static void *session(void *number) {
    int own = (int)(long)number;
    for (int i = 0; i < 4; i++)
        statement();
    update(own);
    for (int step = 1; step <= 3; step++)
        scan(own, (own + step) % SESSIONS);
    return NULL;
}

int main(void) {
    pthread_t threads[SESSIONS];
    for (long i = 0; i < SESSIONS; i++)
        pthread_create(&threads[i], NULL, session, (void *)i);
    for (int i = 0; i < SESSIONS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
