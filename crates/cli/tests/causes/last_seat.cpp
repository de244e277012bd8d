// Whether a seat is left is asked under the lock, and forgotten before it is sold.
// cause: seats 15 23
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex box_office;
static int seats = 1;

static void sell()
{
    bool is_left;
    {
        std::lock_guard<std::mutex> held(box_office);
        is_left = seats > 0;
    }
    if (!is_left)
        return;
    // The buyer looks for money here.
    int price = 12;
    (void)price;
    std::lock_guard<std::mutex> held(box_office);
    seats = seats - 1;
    assert(seats >= 0);
}
int main()
{
    std::thread one(sell), two(sell);
    one.join();
    two.join();
}
