// A promise that is kept when its thread ends: what the thread wrote before is there for whoever gets the value.
#include <cassert>
#include <future>
#include <thread>

static int written;

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread setter([&promise] {
        written = 7;
        promise.set_value_at_thread_exit(41);
        written = 8;
    });
    int value = future.get();
    assert(value == 41);
    assert(written == 8);
    setter.join();
}
