// expect: pass
// os-threads
// A function-local static is made once, and finished before anybody uses it; a throwing one is
// tried again.
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static int made, tries;

struct Slow {
    int value = 0;
    Slow() {
        std::lock_guard<std::mutex> hold(lock);
        made++;
        value = 7;
    }
};

struct Throws {
    Throws() {
        std::lock_guard<std::mutex> hold(lock);
        if (tries++ == 0) throw std::runtime_error("first");
    }
};

static Slow &instance() {
    static Slow slow;
    return slow;
}

static void work() {
    assert(instance().value == 7);
    for (;;) {
        try {
            static Throws throws;
            break;
        } catch (const std::runtime_error &) {
        }
    }
}

int main() {
    std::thread a(work), b(work), c(work);
    a.join();
    b.join();
    c.join();
    assert(made == 1 && tries == 2);
}
