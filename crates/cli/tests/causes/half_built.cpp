// Double-checked locking: the flag is up before the value is there.
// cause: built|level 15 19 20 25
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex guard;
static bool built;
static int level;

static int get()
{
    int mine = 0;
    bool done = false;
    done = built;
    if (!done) {
        std::lock_guard<std::mutex> held(guard);
        if (!built) {
            built = true;
            level = 5;
        }
        mine = level;
    }
    else
        mine = level;
    return mine;
}
int main()
{
    int seen[2] = {0, 0};
    std::thread one([&seen] { seen[0] = get(); });
    std::thread two([&seen] { seen[1] = get(); });
    one.join();
    two.join();
    assert(seen[0] == 5 && seen[1] == 5);
}
