/* A monitor that pings for ever, and a window that changes how often. It ends when the window is closed. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static pthread_mutex_t monitor = PTHREAD_MUTEX_INITIALIZER;
static float interval = -1;
static float configured;
static int idle;

static void *ping(void *unused) {
    for (;;) {
        pthread_mutex_lock(&monitor);
        float every = interval;
        pthread_mutex_unlock(&monitor);
        if (every >= 0) {
            pthread_mutex_lock(&monitor);
            idle = 1;
            pthread_mutex_unlock(&monitor);
        }
        sched_yield();
    }
    return NULL;
}

static void *window(void *unused) {
    pthread_mutex_lock(&monitor);
    interval = 2;
    configured = interval;
    pthread_mutex_unlock(&monitor);
    return NULL;
}

int main(void) {
    pthread_t pinger, closed;
    pthread_create(&pinger, NULL, ping, NULL);
    pthread_create(&closed, NULL, window, NULL);
    pthread_join(closed, NULL);
    exit(0);
}
