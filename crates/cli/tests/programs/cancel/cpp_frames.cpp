// expect: pass
// os-threads
// Cancellation unwinds C++ frames: destructors run, catch (...) may look but must pass it on.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <pthread.h>

static std::mutex lock;
static std::condition_variable never;
static int destroyed, caught;

struct Guard {
    ~Guard() { destroyed++; }
};

static void *work(void *unused) {
    Guard outer;
    std::unique_lock<std::mutex> hold(lock);
    try {
        Guard inner;
        for (;;) never.wait(hold);
    } catch (...) {
        assert(hold.owns_lock());
        caught++;
        throw;
    }
    return unused;
}

int main() {
    pthread_t t;
    void *value;
    pthread_create(&t, nullptr, work, nullptr);
    {
        std::lock_guard<std::mutex> hold(lock);
        pthread_cancel(t);
    }
    pthread_join(t, &value);
    assert(value == PTHREAD_CANCELED && lock.try_lock());
    assert((destroyed == 2 && caught == 1) || (destroyed == 0 && caught == 0) || destroyed == 2);
}
