// expect: pass
// flags: -std=c++20
// os-threads
#include <barrier>
#include <cassert>
#include <chrono>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
static std::latch started(3), done(2);
static std::counting_semaphore<4> slots(1);
static std::binary_semaphore bell(0);
static int inside, phase[2];
static int completed;

int main() {
    auto on_completion = []() noexcept { completed++; };
    std::barrier barrier(2, on_completion);
    auto work = [&](int me) {
        started.arrive_and_wait();
        slots.acquire();
        assert(inside++ == 0);
        inside--;
        slots.release();
        for (int round = 1; round <= 2; round++) {
            phase[me] = round;
            barrier.arrive_and_wait();
            assert(phase[1 - me] >= round && completed >= round);
        }
        done.count_down();
        bell.release();
        bell.acquire();
        bell.release();
    };
    std::thread a(work, 0), b(work, 1);
    started.arrive_and_wait();
    done.wait();
    assert(done.try_wait() && completed == 2);
    if (slots.try_acquire_for(1s)) slots.release();
    if (slots.try_acquire()) slots.release();
    a.join();
    b.join();
}
