// A pool whose workers wait on a condition variable, with jobs on the heap.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int size) {
        for (int i = 0; i < size; i++) workers_.emplace_back([this] { work(); });
    }

    ~Pool() {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            stopping_ = true;
        }
        changed_.notify_all();
        for (auto &worker : workers_) worker.join();
    }

    void run(std::function<void()> job) {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            jobs_.push(std::move(job));
        }
        changed_.notify_one();
    }

private:
    void work() {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> hold(mutex_);
                changed_.wait(hold, [this] { return stopping_ || !jobs_.empty(); });
                if (jobs_.empty()) return;
                job = std::move(jobs_.front());
                jobs_.pop();
            }
            job();
        }
    }

    std::vector<std::thread> workers_;
    std::queue<std::function<void()>> jobs_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;
};

int main() {
    std::atomic<int> done{0};
    {
        Pool pool(2);
        for (int i = 0; i < 3; i++) pool.run([&done] { done++; });
    }
    assert(done == 3);
}
