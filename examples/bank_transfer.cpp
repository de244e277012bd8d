// Check, then act: every access to the balance is locked, so there is no data race. Still, the
// question "is there enough?" and the withdrawal are two critical sections, and somebody else can
// withdraw between them. The balance goes below zero.
//
//     threadbare hunt examples/bank_transfer.cpp
#include <cassert>
#include <mutex>
#include <thread>

class Account {
public:
    explicit Account(int balance) : balance_(balance) {}

    int balance() const
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return balance_;
    }

    void add(int amount)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        balance_ += amount;
    }

private:
    mutable std::mutex mutex_;
    int balance_;
};

static void transfer(Account &from, Account &to, int amount)
{
    if (from.balance() >= amount) {
        from.add(-amount);
        to.add(amount);
    }
}

int main()
{
    Account savings(100), rent(0), holidays(0);

    std::thread first([&] { transfer(savings, rent, 80); });
    std::thread second([&] { transfer(savings, holidays, 60); });
    first.join();
    second.join();

    assert(savings.balance() >= 0);
    return 0;
}
