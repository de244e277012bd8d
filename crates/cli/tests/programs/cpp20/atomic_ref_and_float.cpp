// expect: pass
// flags: -std=c++20
#include <atomic>
#include <cassert>
#include <thread>
static int plain;
static std::atomic<double> sum{0};
static void work() {
    for (int i = 0; i < 2; i++) {
        std::atomic_ref<int>(plain).fetch_add(1);
        sum.fetch_add(0.5);
    }
}
int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
    assert(plain == 4 && sum == 2.0);
}
