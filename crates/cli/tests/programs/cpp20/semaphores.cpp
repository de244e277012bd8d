// expect: pass deadlock
// flags: -std=c++20
// os-threads
// In libstdc++ before 13 an acquire can sleep for ever after a release (GCC bug 104928).
#include <cassert>
#include <chrono>
#include <semaphore>
#include <thread>

using namespace std::chrono_literals;
static std::counting_semaphore<4> slots(1);
static std::binary_semaphore bell(0);
static int inside;

static void work() {
    slots.acquire();
    assert(inside++ == 0);
    inside--;
    slots.release();
    bell.release();
}

int main() {
    std::thread a(work);
    bell.acquire();
    if (slots.try_acquire_for(1s)) slots.release();
    if (slots.try_acquire()) slots.release();
    a.join();
}
