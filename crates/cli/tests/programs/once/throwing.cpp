// expect: pass
// reaches: retried
// os-threads
// A routine that throws is tried again by the next caller; nobody is left waiting.
#include "../reach.h"
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::once_flag flag;
static int tries, value;

static void work() {
    for (;;) {
        try {
            std::call_once(flag, [] {
                if (tries++ == 0) throw std::runtime_error("not yet");
                value = 7;
            });
            break;
        } catch (const std::runtime_error &) {
            reached("retried");
        }
    }
    assert(value == 7 && tries == 2);
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    std::thread a(work), b(work);
    a.join();
    b.join();
}
