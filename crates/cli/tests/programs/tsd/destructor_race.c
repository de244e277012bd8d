// expect: assertion
// A destructor's race is found like any other: it runs under control.
#include <assert.h>
#include <pthread.h>

static pthread_key_t key;
static int counter;

static void count(void *unused) { counter++; }

static void *work(void *unused) {
    pthread_setspecific(key, &counter);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_key_create(&key, count);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
