/* An axis of a chart (JFreeChart's NumberAxis) holds a range that is replaced as a whole. Centring
 * it reads the range three times, for the middle and for both ends: when the other thread replaces
 * it in between, the ends come from different ranges, and a range whose ends are crossed is
 * refused. */
#include <pthread.h>
#include <stdexcept>

/* Immutable and of one word, so that reading or replacing it is a single access. */
struct Range {
    float low, high;
};

static Range make_range(float low, float high)
{
    if (low > high)
        throw std::invalid_argument("the lower end is above the upper end");
    return Range{low, high};
}

class NumberAxis {
public:
    void center_range(float value)
    {
        float middle = center();
        float low = lower();
        float high = upper();
        Range centered = make_range(low + value - middle, high + value - middle);
        range = centered;
    }

private:
    float center() const
    {
        Range seen = range;
        return (seen.low + seen.high) / 2;
    }

    float lower() const
    {
        Range seen = range;
        return seen.low;
    }

    float upper() const
    {
        Range seen = range;
        return seen.high;
    }

    Range range = {0, 4};
};

static NumberAxis axis;

static void *first_suffix(void *)
{
    axis.center_range(3);
    return nullptr;
}

static void *second_suffix(void *)
{
    axis.center_range(-3);
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
