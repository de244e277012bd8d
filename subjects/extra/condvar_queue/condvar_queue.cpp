// Correct: a bounded queue with two producers and two consumers, in C++.
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kProducers = 2;
constexpr int kItems = 2;
constexpr std::size_t kSlots = 1;

class Queue {
public:
    void put(int item)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        not_full_.wait(guard, [this] { return items_.size() < kSlots; });
        items_.push_back(item);
        not_empty_.notify_one();
    }

    int take()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        not_empty_.wait(guard, [this] { return !items_.empty(); });
        int item = items_.front();
        items_.pop_front();
        not_full_.notify_one();
        return item;
    }

private:
    std::mutex mutex_;
    std::condition_variable not_full_, not_empty_;
    std::deque<int> items_;
};

} // namespace

int main()
{
    Queue queue;
    int sums[kProducers] = {};
    std::vector<std::thread> threads;

    for (int p = 0; p < kProducers; p++) {
        threads.emplace_back([&queue] {
            for (int i = 1; i <= kItems; i++)
                queue.put(i);
        });
        threads.emplace_back([&queue, &sum = sums[p]] {
            for (int i = 0; i < kItems; i++)
                sum += queue.take();
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    int total = 0;
    for (int sum : sums)
        total += sum;
    assert(total == kProducers * kItems * (kItems + 1) / 2);
    return 0;
}
