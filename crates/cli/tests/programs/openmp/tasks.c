// expect: pass
// uncut
// flags: -fopenmp
// Tasks, with results of others, in groups, and of tasks of their own.
#include <assert.h>
static int fibonacci(int n) {
    int a, b;
    if (n < 2) return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 3)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}
int main(void) {
    int result = 0, first = 0, second = 0, grouped = 0, left[3] = {0, 0, 0};
#pragma omp parallel num_threads(3)
    {
#pragma omp single
        {
            result = fibonacci(5);
#pragma omp task depend(out : first)
            first = 1;
#pragma omp task depend(in : first) depend(out : second)
            second = first + 1;
#pragma omp taskgroup
            {
#pragma omp task
                grouped = 7;
            }
            assert(grouped == 7);
            for (int i = 0; i < 3; i++) {
#pragma omp task firstprivate(i)
                left[i] = i + 1;
            }
        }
        assert(second == 2 && left[0] + left[1] + left[2] == 6);
    }
    assert(result == 5);
    return 0;
}
