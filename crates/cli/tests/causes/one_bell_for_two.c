// Both wait for the gate to open, and only one is woken.
// cause: opened 14 30
#include <pthread.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open;

static void *walker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&guard);
    while (!is_open)
        pthread_cond_wait(&opened, &guard);
    pthread_mutex_unlock(&guard);
    return 0;
}
int main(void)
{
    pthread_t walkers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&walkers[i], 0, walker, 0);
    pthread_mutex_lock(&guard);
    is_open = 1;
    pthread_mutex_unlock(&guard);

    /* Everybody has to hear this. */
    int how = 0;
    if (!how)
        pthread_cond_signal(&opened);
    for (int i = 0; i < 2; i++)
        pthread_join(walkers[i], 0);
    return 0;
}
