// A task fails, and the one who asked for its result reads the exception while the thread that threw it lets go of it.
#include <cassert>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

static void fail(std::shared_ptr<std::promise<int>> promise, bool by_library) {
    try {
        if (by_library) std::string("short").at(10);
        throw 3;
    } catch (...) {
        promise->set_exception(std::current_exception());
    }
}

static int outcome(std::future<int> &future) {
    try {
        return future.get();
    } catch (int number) {
        return number;
    } catch (const std::out_of_range &error) {
        return std::string(error.what()).empty() ? 0 : 4;
    }
}

int main() {
    int sum = 0;
    for (bool by_library : {false, true}) {
        auto promise = std::make_shared<std::promise<int>>();
        auto future = promise->get_future();
        std::thread thread(fail, std::move(promise), by_library);
        sum += outcome(future);
        thread.join();
    }
    assert(sum == 7);

    // One exception, and two who look at it.
    std::exception_ptr shared = std::make_exception_ptr(std::runtime_error("shared"));
    auto look = [](std::exception_ptr mine) {
        try {
            std::rethrow_exception(std::move(mine));
        } catch (const std::runtime_error &error) {
            assert(error.what()[0] == 's');
        }
    };
    std::thread other(look, shared);
    look(std::move(shared));
    other.join();
}
