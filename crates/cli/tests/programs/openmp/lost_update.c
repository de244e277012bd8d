// expect: assertion
// uncut
// flags: -fopenmp
#include <assert.h>
int main(void) {
    volatile int sum = 0;
#pragma omp parallel num_threads(2)
    {
        int seen = sum;
        sum = seen + 1;
    }
    assert(sum == 2);
    return 0;
}
