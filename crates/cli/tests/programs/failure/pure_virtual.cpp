// expect: exception abort
// The object is used before its constructor has come to the derived class.
#include <thread>
struct Base {
    std::thread worker;
    Base() : worker([this] { work(); }) {}
    virtual ~Base() {}
    virtual void work() = 0;
};
struct Derived : Base {
    int n = 0;
    void work() override { n++; }
    ~Derived() { worker.join(); }
};
int main() { Derived object; }
