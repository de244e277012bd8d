// expect: pass
// options: --timers loose
// reaches: not-yet ready
// os-threads
// future, promise, packaged_task, async in both ways, shared_future, exceptions through futures.
#include "../reach.h"
#include <cassert>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char **argv) {
    GOAL(argc, argv);
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread setter([&] { promise.set_value(1); });
    auto status = future.wait_for(10s);
    reached(status == std::future_status::ready ? "ready" : "not-yet");
    assert(future.get() == 1);
    setter.join();

    auto eager = std::async(std::launch::async, [] { return 2; });
    auto lazy = std::async(std::launch::deferred, [] { return 3; });
    assert(lazy.wait_for(0s) == std::future_status::deferred);
    assert(eager.get() + lazy.get() == 5);

    std::packaged_task<int(int)> task([](int n) -> int {
        if (n) throw std::runtime_error("through the future");
        return 0;
    });
    std::shared_future<int> shared = task.get_future().share();
    std::thread runner(std::move(task), 1);
    std::thread second([shared] {
        try {
            shared.get();
            assert(false);
        } catch (const std::runtime_error &) {
        }
    });
    try {
        shared.get();
        assert(false);
    } catch (const std::runtime_error &error) {
        assert(std::string(error.what()) == "through the future");
    }
    runner.join();
    second.join();

    std::future<void> broken;
    {
        std::promise<void> dropped;
        broken = dropped.get_future();
    }
    try {
        broken.get();
        assert(false);
    } catch (const std::future_error &) {
    }
    std::promise<int> late;
    auto at_exit = late.get_future();
    std::thread([&late] { late.set_value_at_thread_exit(9); }).detach();
    assert(at_exit.get() == 9);
}
