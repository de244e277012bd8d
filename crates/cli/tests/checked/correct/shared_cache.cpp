// A cache under a shared mutex, made once, with a count of its own in each thread.
#include <cassert>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::once_flag once;
static std::unique_ptr<std::map<int, int>> cache;
static std::shared_mutex lock;
static thread_local int asked;
static std::mutex total_lock;
static int total;

static int square(int number) {
    std::call_once(once, [] { cache = std::make_unique<std::map<int, int>>(); });
    asked++;
    {
        std::shared_lock<std::shared_mutex> hold(lock);
        auto known = cache->find(number);
        if (known != cache->end()) return known->second;
    }
    std::unique_lock<std::shared_mutex> hold(lock);
    return cache->emplace(number, number * number).first->second;
}

static void work(int number) {
    assert(square(number) == number * number);
    assert(square(3) == 9);
    std::lock_guard<std::mutex> hold(total_lock);
    total += asked;
}

int main() {
    std::thread a(work, 3), b(work, 4);
    a.join();
    b.join();
    assert(total == 4);
}
