/* A string buffer that locks itself for each call (java.lang.StringBuffer). Appending another
 * buffer asks for its length and then for that many characters, in two calls: the other buffer can
 * be emptied in between, and the range is refused. */
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <stdexcept>

class StringBuffer {
public:
    explicit StringBuffer(const char *text) : count((int)std::strlen(text))
    {
        std::memcpy(data, text, count);
    }

    int length()
    {
        std::lock_guard<std::mutex> guard(lock);
        return count;
    }

    void get_chars(int from, int to, char *into)
    {
        std::lock_guard<std::mutex> guard(lock);
        if (to > count)
            throw std::out_of_range("the buffer has fewer characters");
        std::memcpy(into, data + from, to - from);
    }

    void append(StringBuffer &other)
    {
        std::lock_guard<std::mutex> guard(lock);
        int more = other.length();
        other.get_chars(0, more, data + count);
        count += more;
    }

    void erase(int from, int to)
    {
        std::lock_guard<std::mutex> guard(lock);
        int kept = count;
        if (to > kept)
            to = kept;
        std::memmove(data + from, data + to, kept - to);
        count = kept - (to - from);
    }

private:
    std::mutex lock;
    int count;
    char data[64];
};

static StringBuffer target("ab");
static StringBuffer source("cd");

static void *first_suffix(void *)
{
    target.append(source);
    return nullptr;
}

static void *second_suffix(void *)
{
    source.erase(0, source.length());
    return nullptr;
}

int main()
{
    pthread_t a, b;

    pthread_create(&a, nullptr, first_suffix, nullptr);
    pthread_create(&b, nullptr, second_suffix, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
    return 0;
}
