// The flag goes up before the value is there.
// cause: ready|value 11 12 15 16
#include <atomic>
#include <cassert>
#include <thread>
static std::atomic<bool> ready{false};
static std::atomic<int> value{0};
int main()
{
    std::thread writer([] {
        ready.store(true);
        value.store(42);
    });
    std::thread reader([] {
        if (ready.load()) {
            int v = value.load();
            assert(v == 42);
        }
    });
    writer.join();
    reader.join();
}
