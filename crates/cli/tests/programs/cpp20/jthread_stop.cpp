// expect: pass
// reaches: callback stopped
// flags: -std=c++20
// os-threads
#include "../reach.h"
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static std::condition_variable_any cond;

int main(int argc, char **argv) {
    GOAL(argc, argv);
    int called = 0;
    {
        std::jthread spinner([](std::stop_token token) {
            while (!token.stop_requested()) std::this_thread::yield();
        });
        std::jthread waiter([](std::stop_token token) {
            std::unique_lock<std::mutex> hold(lock);
            bool met = cond.wait(hold, token, [] { return false; });
            assert(!met);
            reached("stopped");
        });
        std::stop_callback callback(waiter.get_stop_token(), [&] {
            called++;
            reached("callback");
        });
        waiter.request_stop();
        waiter.join();
    }
    assert(called == 1);
}
