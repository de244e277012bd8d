// expect: pass
// flags: -std=c++20
// executions: 100
// os-threads
// wait and notify on atomics: of the size a futex has, and of others.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

static std::atomic<int> word{0};
static std::atomic<long> wide{0};
static std::atomic<bool> small{false};
static std::atomic_flag flag;
static std::atomic<std::shared_ptr<int>> pointer;
static int data;

int main() {
    std::thread a([] {
        word.wait(0);
        assert(word == 1 && data == 1);
        wide.store(5);
        wide.notify_all();
    });
    std::thread b([] {
        small.wait(false);
        flag.wait(false);
        pointer.wait(nullptr);
        assert(*pointer.load() == 3);
    });
    data = 1;
    word.store(1);
    word.notify_one();
    wide.wait(0);
    assert(wide == 5);
    small = true;
    small.notify_one();
    flag.test_and_set();
    flag.notify_all();
    pointer.store(std::make_shared<int>(3));
    pointer.notify_all();
    a.join();
    b.join();
}
