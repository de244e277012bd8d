// expect: exception
// message: uncaught exception std::runtime_error: no luck
// os-threads
#include <stdexcept>
#include <thread>
static int n;
static void work() {
    if (n++) throw std::runtime_error("no luck");
}
int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
}
