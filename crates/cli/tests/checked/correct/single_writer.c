// Who alone writes a variable, under a lock, reads it without one, as others may not.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int filled, is_done;

static void *look(void *unused) {
    int seen = 0, last = 0;
    while (!last) {
        pthread_mutex_lock(&lock);
        assert(filled >= seen);
        seen = filled;
        last = is_done;
        pthread_mutex_unlock(&lock);
    }
    assert(seen == 3);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, look, 0);
    while (filled < 3) {
        int more = filled + 1;
        pthread_mutex_lock(&lock);
        filled = more;
        is_done = more == 3;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(t, 0);
}
