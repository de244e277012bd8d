// One thread deletes what the other uses.
// finds: race current 10 11
// finds: use-after-free - 11
#include <memory>
#include <thread>
struct Job { int id = 1; };
static Job *current = new Job;
int main()
{
    std::thread a([] { delete current; current = nullptr; });
    std::thread b([] { if (current) current->id = 2; });
    a.join();
    b.join();
}
