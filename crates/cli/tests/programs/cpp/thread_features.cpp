// expect: pass
// Arguments by value, move and reference, member functions, ids, sleeping, swapping, containers.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

struct Worker {
    int seen = 0;
    void run(int n) { seen = n; }
};

int main() {
    Worker worker;
    int out = 0;
    auto owned = std::make_unique<int>(5);
    std::thread a(&Worker::run, &worker, 3);
    std::thread b([](std::unique_ptr<int> p, int &to) { to = *p; }, std::move(owned), std::ref(out));
    std::set<std::thread::id> ids{std::this_thread::get_id(), a.get_id(), b.get_id()};
    assert(ids.size() == 3);
    std::swap(a, b);
    a.join();
    b.join();
    assert(worker.seen == 3 && out == 5 && !a.joinable());
    assert(std::thread::hardware_concurrency() >= 1);
    std::vector<std::thread> pool;
    std::vector<int> results(4);
    for (int i = 0; i < 4; i++)
        pool.emplace_back([i, &results] {
            std::this_thread::sleep_for(std::chrono::hours(i));
            std::this_thread::yield();
            std::ostringstream text;
            text << "result " << i << ' ' << std::this_thread::get_id();
            std::cout << text.str() << std::endl;
            results[i] = i * i;
        });
    std::for_each(pool.begin(), pool.end(), [](std::thread &t) { t.join(); });
    assert(results[3] == 9);
}
