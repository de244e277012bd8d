// expect: pass
// os-threads
// Main has left: the last thread calls the functions of the end and the destructors of statics, which wait for what others had.
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <thread>

static std::atomic<int> ended;
static std::mutex lock;
static int rounds;

struct Checked {
    ~Checked() {
        std::lock_guard<std::mutex> hold(lock);
        assert(ended == 2 && rounds == 3);
    }
};
static Checked checked;

static void at_the_end() {
    std::lock_guard<std::mutex> hold(lock);
    rounds++;
}

static void work() {
    std::lock_guard<std::mutex> hold(lock);
    rounds++;
    ended++;
}

int main() {
    std::atexit(at_the_end);
    std::thread(work).detach();
    std::thread(work).detach();
    pthread_exit(nullptr);
}
