// expect: pass
// executions: 200
// strategies: random auto dfs
// A promise that is kept when its thread ends, with and without somebody who waits for it.
#include <cassert>
#include <future>
#include <thread>
int main() {
    std::promise<int> number;
    std::promise<void> nothing;
    auto a = number.get_future();
    auto b = nothing.get_future();
    std::thread setter([&] {
        nothing.set_value_at_thread_exit();
        number.set_value_at_thread_exit(5);
    });
    b.wait();
    setter.join();
    assert(a.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
    assert(a.get() == 5);
}
