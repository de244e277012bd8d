// expect: pass
// options: --timers loose
// reaches: timed-out try-failed
// os-threads
// Every mutex of the standard library, guards, and std::lock without deadlock.
#include "../reach.h"
#include <cassert>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;
static std::mutex a, b;
static std::timed_mutex timed;
static std::recursive_mutex again;
static std::recursive_timed_mutex again_timed;
static std::shared_mutex shared;
static std::shared_timed_mutex shared_timed;
static int x, y, z;

static void work(bool swap) {
    {
        std::scoped_lock both(swap ? a : b, swap ? b : a);
        x++;
    }
    {
        std::unique_lock<std::mutex> first(a, std::defer_lock), second(b, std::defer_lock);
        std::lock(first, second);
        x++;
    }
    if (timed.try_lock_for(1h)) {
        y++;
        timed.unlock();
    } else {
        reached("timed-out");
    }
    {
        std::lock_guard<std::recursive_mutex> one(again);
        std::lock_guard<std::recursive_mutex> two(again);
        std::unique_lock<std::recursive_timed_mutex> three(again_timed, 10s), four(again_timed, 10s);
        if (three.owns_lock()) assert(four.owns_lock());
    }
    {
        std::shared_lock<std::shared_mutex> read(shared);
        assert(z >= 0);
    }
    {
        std::unique_lock<std::shared_mutex> write(shared);
        z++;
    }
    if (shared_timed.try_lock_until(std::chrono::steady_clock::now() + 1s)) shared_timed.unlock();
    if (shared_timed.try_lock_shared_for(1s)) shared_timed.unlock_shared();
    if (a.try_lock()) a.unlock();
    else reached("try-failed");
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    std::thread one(work, false), two(work, true);
    one.join();
    two.join();
    assert(x == 4 && y <= 2 && z == 2);
}
