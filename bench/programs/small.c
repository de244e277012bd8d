/* Three threads (main included) and about sixty steps: the size of a unit test. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, seen;

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        total = total + 1;
        pthread_mutex_unlock(&lock);
        seen = total;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return total == 10 ? 0 : 1;
}
