/* A crawler that asks for its connection until there is one, and then again for the next page, for ever. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *connection;
static int socket_, pages;

static void *crawl(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        if (connection)
            pages = *connection;
        pthread_mutex_unlock(&lock);
        sched_yield();
    }
    return NULL;
}

static void *connect_(void *unused) {
    pthread_mutex_lock(&lock);
    connection = &socket_;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t crawler, connecting;
    pthread_create(&crawler, NULL, crawl, NULL);
    pthread_create(&connecting, NULL, connect_, NULL);
    pthread_join(connecting, NULL);
    exit(0);
}
