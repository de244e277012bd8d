/* A terminal client: what threads see of each other's figures is shown, and decides nothing. */
#include <pthread.h>

static pthread_mutex_t screen = PTHREAD_MUTEX_INITIALIZER;
static int columns = 80, rows = 24;
static int sent, received, shown, keys;
static int line[8];

static void *network(void *unused) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&screen);
        received = received + 1;
        line[i] = received + sent;
        pthread_mutex_unlock(&screen);
    }
    return NULL;
}

static void *keyboard(void *unused) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&screen);
        keys = keys + 1;
        sent = sent + keys;
        line[4 + i] = received;
        pthread_mutex_unlock(&screen);
    }
    return NULL;
}

static void *painter(void *unused) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&screen);
        shown = line[i] + line[4 + i] + columns * rows;
        pthread_mutex_unlock(&screen);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    void *(*routines[3])(void *) = {network, keyboard, painter};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, routines[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
