// One thread takes the message away and deletes it while the other one still looks at it.
// cause: Message.length 20 26
#include <atomic>
#include <thread>

struct Message {
    int length = 3;
};
static std::atomic<Message *> latest{nullptr};

int main()
{
    latest = new Message;
    int length = 0;
    std::thread cleaner([] {
        // Nobody asks whether it is in use.
        Message *old = nullptr;
        latest.load();
        old = latest.exchange(nullptr);
        delete old;
    });
    std::thread reader([&length] {
        Message *mine = nullptr;
        mine = latest.load();
        if (mine)
            length = mine->length;
    });
    cleaner.join();
    reader.join();
    return length > 3;
}
