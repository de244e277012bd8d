// A thread returns with the lock in its hands.
// finds: deadlock m 9
#include <mutex>
#include <thread>
static std::mutex m;
static int n;
static void work(bool early)
{
    m.lock();
    n++;
    if (early)
        return;
    m.unlock();
}
int main()
{
    std::thread a(work, true), b(work, false);
    a.join();
    b.join();
}
