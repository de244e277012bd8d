// expect: use-after-free assertion segfault
// Assigning one shared_ptr from two threads frees its block twice or under a reader.
#include <cassert>
#include <memory>
#include <thread>

static std::shared_ptr<int> global = std::make_shared<int>(1);

int main() {
    std::thread writer([] { global = std::make_shared<int>(2); });
    auto mine = global;
    int value = *mine;
    writer.join();
    assert(value == 1 || value == 2);
}
