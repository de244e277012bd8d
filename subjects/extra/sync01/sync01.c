/* Two threads hand one slot to and fro with two condition variables. The taker reports the slot
 * free on the variable it waits on itself, so a filler that is already waiting is never woken. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static int items = 1;

static void *filler(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (items > 0)
        pthread_cond_wait(&emptied, &lock);
    items = items + 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&filled);
    return NULL;
}

static void *taker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (items == 0)
        pthread_cond_wait(&filled, &lock);
    items = items - 1;
    pthread_mutex_unlock(&lock);
    /* Should signal emptied: that is the bug. */
    pthread_cond_signal(&filled);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, filler, NULL);
    pthread_create(&b, NULL, taker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
