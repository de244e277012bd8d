// Promises and futures are used rightly, once after the other; what is computed from their values is not.
#include <atomic>
#include <cassert>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Total {
    std::mutex mutex;
    int sum = 0;

    int get() {
        std::lock_guard<std::mutex> guard(mutex);
        return sum;  // bug 1
    }

    void set(int value) {
        std::lock_guard<std::mutex> guard(mutex);
        sum = value;  // bug 1
    }
};

static int square(int value) { return value * value; }

int main() {
    Total total;
    auto shared = std::make_shared<std::promise<int>>();
    std::shared_future<int> base = shared->get_future().share();
    std::vector<std::thread> threads;
    std::vector<std::future<int>> answers;
    for (int number = 1; number <= 2; ++number) {
        std::promise<int> promise;
        answers.push_back(promise.get_future());
        threads.emplace_back([number, base, &total, promise = std::move(promise)]() mutable {
            int mine = square(number) + base.get();
            total.set(total.get() + mine);
            promise.set_value(mine);
        });
    }
    threads.emplace_back([shared] { shared->set_value(10); });
    int sum = 0;
    for (auto &answer : answers) sum += answer.get();
    for (auto &thread : threads) thread.join();
    std::packaged_task<int()> task([] { return square(3); });
    std::future<int> last = task.get_future();
    std::thread runner(std::move(task));
    assert(last.get() == 9);
    runner.join();
    assert(total.get() == sum);
}
