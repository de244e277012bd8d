// expect: pass
// flags: -std=c++20
// os-threads
#include <barrier>
#include <cassert>
#include <latch>
#include <thread>

static std::latch started(3), done(2);
static int phase[2];
static int completed;

int main() {
    auto on_completion = []() noexcept { completed++; };
    std::barrier barrier(2, on_completion);
    auto work = [&](int me) {
        started.arrive_and_wait();
        for (int round = 1; round <= 2; round++) {
            phase[me] = round;
            barrier.arrive_and_wait();
            assert(phase[1 - me] >= round && completed >= round);
        }
        done.count_down();
    };
    std::thread a(work, 0), b(work, 1);
    started.arrive_and_wait();
    done.wait();
    assert(done.try_wait() && completed == 2);
    a.join();
    b.join();
}
