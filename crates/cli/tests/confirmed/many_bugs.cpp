#include <cassert>
#include <cstdlib>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// Four bugs, and classes without any.

class Account {  // check and act in two critical sections
public:
    explicit Account(int amount) : balance_(amount) {}
    bool withdraw(int amount) {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            if (balance_ < amount) return false;  // bug 1
        }
        std::lock_guard<std::mutex> guard(mutex_);
        balance_ -= amount;  // bug 1
        return true;
    }
    int balance() {
        std::lock_guard<std::mutex> guard(mutex_);
        return balance_;
    }
private:
    std::mutex mutex_;
    int balance_;
};

class Statistics {  // right
public:
    void count(const std::string &what) {
        std::lock_guard<std::mutex> guard(mutex_);
        ++total_;
        ++counts_[what];
    }
    int total() {
        std::lock_guard<std::mutex> guard(mutex_);
        return total_;
    }
private:
    std::mutex mutex_;
    int total_ = 0;
    std::map<std::string, int> counts_;
};

class Queue {  // right
public:
    void push(int value) {
        std::lock_guard<std::mutex> guard(mutex_);
        values_.push_back(value);
        ++pushed_;
    }
    bool pop(int &value) {
        std::lock_guard<std::mutex> guard(mutex_);
        if (values_.empty()) return false;
        value = values_.front();
        values_.pop_front();
        ++popped_;
        return true;
    }
private:
    std::mutex mutex_;
    std::deque<int> values_;
    int pushed_ = 0, popped_ = 0;
};

class Log {  // no lock at all
public:
    void line() { ++lines_; }  // bug 2
    int lines() const { return lines_; }
private:
    int lines_ = 0;
};

class Cache {  // two variables that belong together, written in two critical sections
public:
    void set(int value) {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            value_ = value;  // bug 3
        }
        std::lock_guard<std::mutex> guard(mutex_);
        copy_ = value;  // bug 3
    }
    void look() {
        std::lock_guard<std::mutex> guard(mutex_);
        assert(value_ == copy_);  // bug 3
    }
private:
    std::mutex mutex_;
    int value_ = 0, copy_ = 0;
};

std::mutex first, second;  // taken in both orders
int shared_a, shared_b;

Account account(100);
Statistics statistics;
Queue queue;
Log logger;
Cache cache;

void worker(int number) {
    statistics.count("begin");
    queue.push(number);
    if (account.withdraw(60)) statistics.count("withdrawn");
    logger.line();
    int value;
    if (queue.pop(value)) statistics.count("popped");
    if (number == 1) cache.set(7);
    else cache.look();
    if (number == 1) {
        std::lock_guard<std::mutex> a(first);  // bug 4
        std::lock_guard<std::mutex> b(second);  // bug 4
        ++shared_a;
        ++shared_b;
    } else {
        std::lock_guard<std::mutex> a(second);  // bug 4
        std::lock_guard<std::mutex> b(first);  // bug 4
        ++shared_a;
        ++shared_b;
    }
    statistics.count("end");
}

int main() {
    std::thread a(worker, 1), b(worker, 2);
    a.join();
    b.join();
    assert(account.balance() >= 0);
    assert(logger.lines() == 2);
    assert(shared_a == 2);
    return 0;
}
