// A woken worker takes for granted that there is work; another one took it.
// cause: jobs.c 18 19 (16 27)
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

static std::mutex guard;
static std::condition_variable news;
static std::queue<int> jobs;

static void worker()
{
    std::unique_lock<std::mutex> held(guard);
    if (jobs.empty())
        news.wait(held);
    assert(!jobs.empty());
    jobs.pop();
}
int main()
{
    std::thread one(worker), two(worker);
    for (int job = 0; job < 2; job++) {
        {
            std::lock_guard<std::mutex> held(guard);
            jobs.push(job);
        }
        news.notify_all();
    }
    one.join();
    two.join();
}
