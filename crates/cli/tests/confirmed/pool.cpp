// A thread pool that is right, with a task that is not.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

class Pool {
public:
    explicit Pool(int threads) {
        for (int i = 0; i < threads; ++i) workers_.emplace_back([this] { work(); });
    }

    ~Pool() {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            ends_ = true;
        }
        available_.notify_all();
        for (auto &worker : workers_) worker.join();
    }

    template <class F>
    auto submit(F function) -> std::future<decltype(function())> {
        auto promise = std::make_shared<std::promise<decltype(function())>>();
        auto future = promise->get_future();
        {
            std::lock_guard<std::mutex> guard(mutex_);
            tasks_.push_back([promise, function] { promise->set_value(function()); });
            ++submitted_;
        }
        available_.notify_one();
        return future;
    }

    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        waiting_ = true;
        done_.wait(lock, [this] { return tasks_.empty() && running_ == 0; });
        waiting_ = false;
    }

private:
    void work() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            available_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            ++running_;
            lock.unlock();
            task();
            task = nullptr;
            lock.lock();
            --running_;
            if (waiting_ && tasks_.empty() && running_ == 0) done_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable available_, done_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::thread> workers_;
    int running_ = 0, submitted_ = 0;
    bool ends_ = false, waiting_ = false;
};

static std::mutex best_mutex;
static int best;
static std::atomic<int> finished;

static int try_out(int value) {
    bool is_better;
    {
        std::lock_guard<std::mutex> guard(best_mutex);
        is_better = value > best;  // bug 1
    }
    ++finished;
    if (is_better) {
        std::lock_guard<std::mutex> guard(best_mutex);
        best = value;  // bug 1
    }
    return value;
}

int main() {
    Pool pool(2);
    auto three = pool.submit([] { return try_out(3); });
    auto five = pool.submit([] { return try_out(5); });
    pool.wait();
    assert(three.get() + five.get() == 8);
    assert(finished == 2);
    std::lock_guard<std::mutex> guard(best_mutex);
    assert(best == 5);
}
