// expect: pass
// os-threads
// thread_local objects: made on first use, destroyed at the thread's end, main's at the process's.
#include <cassert>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static int made, gone;

struct Counted {
    std::string text;
    Counted() : text("some text that has to live on the heap, not in the object") {
        std::lock_guard<std::mutex> hold(lock);
        made++;
    }
    ~Counted() {
        std::lock_guard<std::mutex> hold(lock);
        gone++;
    }
};

static thread_local Counted counted;
static thread_local int number = 5;

static void work() {
    counted.text += "!";
    assert(number++ == 5);
}

int main() {
    work();
    std::thread a(work), b(work), c([] { assert(number == 5); });
    a.join();
    b.join();
    c.join();
    assert(made == 3 && gone == 2);
}
