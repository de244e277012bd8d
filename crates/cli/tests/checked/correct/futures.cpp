// Values come through promises and tasks; the last owner of a shared object destroys it.
#include <cassert>
#include <future>
#include <memory>
#include <thread>

int main() {
    std::promise<int> promise;
    auto promised = promise.get_future();
    std::thread thread([promise = std::move(promise)]() mutable { promise.set_value(6); });
    auto task = std::async(std::launch::async, [] { return 7; });
    assert(promised.get() * task.get() == 42);
    thread.join();

    auto shared = std::make_shared<int>(3);
    std::thread reader([shared] { assert(*shared == 3); });
    shared.reset();
    reader.join();
}
