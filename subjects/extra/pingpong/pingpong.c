/* Five players take a shared reference away and put it back; whoever looks in between finds NULL.
 *
 * usage: pingpong [players] */
#include <pthread.h>
#include <stdlib.h>

#define MAX_PLAYERS 64

struct ball {
    int bounces;
};

static struct ball only_ball = {.bounces = 1};
static struct ball *ball = &only_ball;

static void *player(void *arg)
{
    (void)arg;
    int bounces = ball->bounces;
    (void)bounces;
    struct ball *held = ball;
    ball = NULL;
    ball = held;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_PLAYERS];
    int players = argc > 1 ? atoi(argv[1]) : 5;

    if (players < 1 || players > MAX_PLAYERS)
        return 2;
    for (int i = 0; i < players; i++)
        pthread_create(&threads[i], NULL, player, NULL);
    for (int i = 0; i < players; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
