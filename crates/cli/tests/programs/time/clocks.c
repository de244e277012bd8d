// expect: pass
// os-threads
// Clocks go forward in every thread and agree with each other.
#include <assert.h>
#include <pthread.h>
#include <sys/time.h>
#include <time.h>
static long long last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *look(void *unused) {
    for (int i = 0; i < 5; i++) {
        struct timespec now;
        struct timeval wall;
        pthread_mutex_lock(&lock);
        clock_gettime(CLOCK_MONOTONIC, &now);
        long long ns = now.tv_sec * 1000000000LL + now.tv_nsec;
        assert(ns > last);
        last = ns;
        pthread_mutex_unlock(&lock);
        gettimeofday(&wall, 0);
        time_t seconds = time(0);
        assert(seconds >= wall.tv_sec && seconds - wall.tv_sec <= 1);
        assert(clock() >= 0);
    }
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, look, 0);
    pthread_create(&b, 0, look, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
