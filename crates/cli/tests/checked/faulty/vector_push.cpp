// Two threads append to one vector.
// finds: race items 10 11
#include <cassert>
#include <thread>
#include <vector>
static std::vector<int> items;
int main()
{
    items.reserve(8);
    std::thread a([] { items.push_back(1); });
    std::thread b([] { items.push_back(2); });
    a.join();
    b.join();
    assert(items.size() == 2);
}
