// Givers and takers wait on one condition, and the one who is woken may be of the wrong kind.
// cause: c 23 11 | c 13 21
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int full;
static void *put(void *p)
{
    pthread_mutex_lock(&m);
    while (full)
        pthread_cond_wait(&c, &m);
    full = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}
static void *get(void *p)
{
    pthread_mutex_lock(&m);
    while (!full)
        pthread_cond_wait(&c, &m);
    full = 0;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void)
{
    pthread_t t[4];
    pthread_create(&t[0], 0, get, 0);
    pthread_create(&t[1], 0, get, 0);
    pthread_create(&t[2], 0, put, 0);
    pthread_create(&t[3], 0, put, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return 0;
}
