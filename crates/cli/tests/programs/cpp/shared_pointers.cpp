// expect: pass
// os-threads
// Reference counts stay right; the atomic functions on shared_ptr work.
#include <cassert>
#include <memory>
#include <thread>
#include <vector>

struct Node {
    int value;
    explicit Node(int v) : value(v) {}
};
static std::shared_ptr<Node> head = std::make_shared<Node>(0);

static void work() {
    for (int i = 0; i < 2; i++) {
        auto seen = std::atomic_load(&head);
        auto next = std::make_shared<Node>(seen->value + 1);
        while (!std::atomic_compare_exchange_strong(&head, &seen, next)) next = std::make_shared<Node>(seen->value + 1);
    }
}

int main() {
    auto common = std::make_shared<std::vector<int>>(3, 1);
    std::weak_ptr<std::vector<int>> weak = common;
    std::thread a(work), b(work), c([common]() mutable { common.reset(); });
    common.reset();
    a.join();
    b.join();
    c.join();
    assert(weak.expired());
    assert(head->value == 4 && head.use_count() == 1);
}
