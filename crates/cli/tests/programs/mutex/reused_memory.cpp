// expect: pass
// Memory that held one kind of mutex or once-flag may hold another later.
#include <cassert>
#include <mutex>
#include <new>
#include <thread>
alignas(64) static char place[64];
static int runs;
template <class Mutex> static void try_mutex() {
    auto *mutex = new (place) Mutex;
    int inside = 0;
    auto work = [&] {
        std::lock_guard<Mutex> hold(*mutex);
        assert(inside++ == 0);
        inside--;
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    assert(mutex->try_lock());
    std::thread c([&] { assert(!mutex->try_lock()); });
    c.join();
    mutex->unlock();
    mutex->~Mutex();
}
int main() {
    try_mutex<std::recursive_mutex>();
    try_mutex<std::mutex>();
    try_mutex<std::recursive_timed_mutex>();
    for (int i = 0; i < 2; i++) {
        auto *once = new (place) std::once_flag;
        std::thread a([&] { std::call_once(*once, [] { runs++; }); });
        std::call_once(*once, [] { runs++; });
        a.join();
    }
    assert(runs == 2);
}
