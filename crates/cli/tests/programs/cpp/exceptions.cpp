// expect: pass
// os-threads
// Exceptions in flight and being handled stay with their thread, with switches in the middle.
#include <cassert>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

static std::mutex lock;
static int shared, unwound;

struct Guard {
    ~Guard() {
        std::lock_guard<std::mutex> hold(lock);
        unwound++;
        assert(std::uncaught_exceptions() == 1);
    }
};

static void thrower(int depth, const std::string &text) {
    Guard guard;
    if (depth == 0) throw std::runtime_error(text);
    thrower(depth - 1, text);
}

static void work(int me) {
    std::string text = "thread " + std::to_string(me);
    for (int round = 0; round < 2; round++) {
        try {
            thrower(2, text);
        } catch (const std::exception &outer) {
            lock.lock();
            shared++;
            lock.unlock();
            assert(outer.what() == text);
            try {
                throw me;
            } catch (int number) {
                std::lock_guard<std::mutex> hold(lock);
                assert(number == me);
            }
            try {
                throw;
            } catch (const std::runtime_error &again) {
                std::lock_guard<std::mutex> hold(lock);
                assert(again.what() == text && std::current_exception());
            }
        }
        assert(std::uncaught_exceptions() == 0);
    }
}

int main() {
    std::thread a(work, 1), b(work, 2);
    work(3);
    a.join();
    b.join();
    assert(shared == 6 && unwound == 18);
}
