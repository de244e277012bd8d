// expect: pass
// options: --timers loose
// reaches: wait-for-timeout wait-for-woken any-timeout
// os-threads
// condition_variable and condition_variable_any, with predicates and times.
#include "../reach.h"
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;
static std::mutex lock;
static std::condition_variable cond;
static std::shared_mutex shared;
static std::condition_variable_any any;
static int stage;

int main(int argc, char **argv) {
    GOAL(argc, argv);
    std::thread other([] {
        {
            std::lock_guard<std::mutex> hold(lock);
            stage = 1;
        }
        cond.notify_one();
        std::unique_lock<std::shared_mutex> hold(shared);
        stage = 2;
        any.notify_all();
    });
    {
        std::unique_lock<std::mutex> hold(lock);
        bool in_time = cond.wait_for(hold, 100ms, [] { return stage >= 1; });
        reached(in_time ? "wait-for-woken" : "wait-for-timeout");
        cond.wait(hold, [] { return stage >= 1; });
        cond.wait_until(hold, std::chrono::system_clock::now() + 1s);
    }
    {
        std::shared_lock<std::shared_mutex> hold(shared);
        if (any.wait_until(hold, std::chrono::steady_clock::now() + 1s) == std::cv_status::timeout) reached("any-timeout");
        any.wait(hold, [] { return stage == 2; });
    }
    other.join();
    assert(stage == 2);
}
