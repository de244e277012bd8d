// expect: use-after-free
// A virtual call on an object that another thread has deleted.
#include <thread>
struct Base {
    virtual ~Base() {}
    virtual int value() { return 1; }
};
struct Derived : Base {
    int value() override { return 2; }
};
int main() {
    Base *object = new Derived;
    int seen = 0;
    std::thread user([&] { seen = object->value(); });
    delete object;
    user.join();
    return seen < 0;
}
