// Correct: std::call_once sets a shared value up for whichever thread comes first.
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

namespace {

std::once_flag once;
std::unique_ptr<int> config;

void use_config()
{
    std::call_once(once, [] { config = std::make_unique<int>(42); });
    assert(*config == 42);
}

} // namespace

int main()
{
    std::thread a(use_config), b(use_config);
    a.join();
    b.join();
    return 0;
}
