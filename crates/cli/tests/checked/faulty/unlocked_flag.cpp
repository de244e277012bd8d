// The flag that is waited for is set without the lock.
// finds: race ready 14 17
// finds: order cv 15 18
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable cv;
static bool ready;
int main()
{
    std::thread t([] {
        std::unique_lock<std::mutex> l(m);
        while (!ready)
            cv.wait(l);
    });
    ready = true; /* without the lock */
    cv.notify_one();
    t.join();
}
