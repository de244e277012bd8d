// expect: pass
// os-threads
// pthread_exit deep inside runs the clean-up handlers of every frame, innermost first.
#include <assert.h>
#include <pthread.h>

static int order[4], count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(void *n) { order[count++] = *(int *)n; }
static void unlock(void *m) { pthread_mutex_unlock(m); }

static void inner(void) {
    int three = 3;
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    pthread_cleanup_push(note, &three);
    pthread_exit(&count);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
}

static void *work(void *unused) {
    int one = 1, two = 2;
    pthread_cleanup_push(note, &one);
    pthread_cleanup_push(note, &two);
    inner();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    pthread_t t;
    void *value;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_join(t, &value);
    assert(value == &count && count == 3);
    assert(order[0] == 3 && order[1] == 2 && order[2] == 1);
    return 0;
}
