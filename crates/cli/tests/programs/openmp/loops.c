// expect: pass
// uncut
// flags: -fopenmp
// Loops that are shared out in every way, one after the other and by the same threads.
#include <assert.h>
static int squares[12], seen[12];
int main(void) {
    int sum = 0, largest = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < 10; i++) sum += i;
    assert(sum == 45);
#pragma omp parallel num_threads(3)
    {
#pragma omp for
        for (int i = 0; i < 12; i++) squares[i] = i * i;
#pragma omp for schedule(dynamic, 2) reduction(max : largest)
        for (int i = 0; i < 12; i++) {
            if (squares[11 - i] > largest) largest = squares[11 - i];
        }
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < 12; i++) seen[i]++;
#pragma omp barrier
#pragma omp for schedule(runtime)
        for (int i = 0; i < 12; i++) assert(seen[11 - i] == 1);
    }
    assert(largest == 121);
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int i = 0; i < 12; i++) seen[i]++;
    for (int i = 0; i < 12; i++) assert(seen[i] == 2);
    return 0;
}
