/* Two threads that do nothing but touch one shared word: every access is a scheduling point. */
#include <pthread.h>
#include <stdlib.h>

static int word;
static long rounds;

static void *touch(void *unused)
{
    (void)unused;
    for (long i = 0; i < rounds; i++)
        word = word + 1;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t other;

    rounds = argc > 1 ? atol(argv[1]) : 1000;
    pthread_create(&other, NULL, touch, NULL);
    touch(NULL);
    pthread_join(other, NULL);
    return 0;
}
