// Double-checked locking as it should be: the pointer is atomic.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Config {
    int value;
};

static std::atomic<Config *> instance{nullptr};
static std::mutex lock;

static Config *get() {
    Config *config = instance.load(std::memory_order_acquire);
    if (!config) {
        std::lock_guard<std::mutex> hold(lock);
        config = instance.load(std::memory_order_relaxed);
        if (!config) {
            config = new Config{42};
            instance.store(config, std::memory_order_release);
        }
    }
    return config;
}

int main() {
    std::thread a([] { assert(get()->value == 42); });
    std::thread b([] { assert(get()->value == 42); });
    a.join();
    b.join();
    delete instance.load();
}
