// expect: pass
// os-threads
// pthread_exit runs the destructors of C++ frames, past a catch of everything that throws on.
#include <cassert>
#include <mutex>
#include <pthread.h>
#include <string>

static std::mutex lock;
static int destroyed, caught;

struct Guard {
    std::string name = "a name that does not fit into the small buffer of a string";
    ~Guard() {
        std::lock_guard<std::mutex> hold(lock);
        destroyed++;
    }
};

static void inner() {
    Guard guard;
    pthread_exit(&destroyed);
}

static void *work(void *unused) {
    Guard outer;
    try {
        inner();
    } catch (...) {
        std::lock_guard<std::mutex> hold(lock);
        caught++;
        throw;
    }
    return unused;
}

int main() {
    pthread_t a, b;
    void *value;
    pthread_create(&a, nullptr, work, nullptr);
    pthread_create(&b, nullptr, work, nullptr);
    pthread_join(a, &value);
    assert(value == &destroyed);
    pthread_join(b, nullptr);
    assert(destroyed == 4 && caught == 2);
}
