// expect: pass
// reaches: first second
// os-threads
// A signal wakes one waiter, and either of two may be the one.
#include "../reach.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waiting, tokens, order;

static void *wait(void *name) {
    pthread_mutex_lock(&lock);
    waiting++;
    while (tokens == 0) pthread_cond_wait(&cond, &lock);
    tokens--;
    if (order++ == 0 && waiting == 2) reached(name);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t a, b;
    pthread_create(&a, 0, wait, "first");
    pthread_create(&b, 0, wait, "second");
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        tokens++;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
