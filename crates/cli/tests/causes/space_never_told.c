// The taker frees a place and signals nobody, so the giver sleeps for ever.
// cause: room 16 28
#include <pthread.h>

enum { PLACES = 1, ROUNDS = 4 };
static int shelf[PLACES], used;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER, goods = PTHREAD_COND_INITIALIZER;

static void *giver(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&door);
        while (used == PLACES)
            pthread_cond_wait(&room, &door);
        shelf[used++] = round;
        pthread_cond_signal(&goods);
        pthread_mutex_unlock(&door);
    }
    return 0;
}
static int take(void)
{
    pthread_mutex_lock(&door);
    while (used == 0)
        pthread_cond_wait(&goods, &door);
    int thing = shelf[--used];
    pthread_mutex_unlock(&door);
    return thing;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, giver, 0);
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        sum += take();
    pthread_join(thread, 0);
    return sum != 6;
}
