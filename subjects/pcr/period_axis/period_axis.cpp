/* An axis over a span of time (JFreeChart's PeriodAxis) keeps the first and the last period in two
 * fields. Moving the axis writes one after the other: whoever asks for the range in between gets
 * the new beginning with the old end, and such a range is refused. */
#include <pthread.h>
#include <stdexcept>

static void check_range(int low, int high)
{
    if (low > high)
        throw std::invalid_argument("the lower end is above the upper end");
}

class PeriodAxis {
public:
    void set_range(int low, int high)
    {
        check_range(low, high);
        span = high - low;
        first = low;
        last = high;
    }

    int lower_bound() const
    {
        int low = first;
        int high = last;
        check_range(low, high);
        return low;
    }

private:
    int span = 100;
    int first = 100;
    int last = 200;
};

static PeriodAxis axis;

static void *first_suffix(void *)
{
    axis.set_range(300, 400);
    return nullptr;
}

static void *second_suffix(void *)
{
    axis.lower_bound();
    axis.lower_bound();
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
