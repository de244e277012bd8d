/* A producer hands over 1, 2, 3 one at a time and a consumer adds them up. The consumer says it
 * is finished before it has added the last number, and main looks without joining it. */
#include <assert.h>
#include <pthread.h>

#define N 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static int item;
static int total;
static int finished;

static void *producer(void *arg)
{
    (void)arg;
    for (int i = 1; i <= N; i++) {
        pthread_mutex_lock(&lock);
        while (item != 0)
            pthread_cond_wait(&emptied, &lock);
        item = i;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    for (int i = 1; i <= N; i++) {
        pthread_mutex_lock(&lock);
        while (item == 0)
            pthread_cond_wait(&filled, &lock);
        int value = item;
        item = 0;
        if (i == N)
            finished = 1;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
        total = total + value;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    if (finished)
        assert(total == N * (N + 1) / 2);
    return 0;
}
