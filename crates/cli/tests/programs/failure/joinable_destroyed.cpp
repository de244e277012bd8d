// expect: exception
// message: without an exception
#include <thread>
static int n;
int main() {
    std::thread a([] { n++; });
    n++;
}
