// expect: pass
// uncut
// flags: -fopenmp
// Sections, values that one thread hands to the others, ordered loops, and teams within teams.
#include <assert.h>
#include <omp.h>
static int one, two, order[6], next, inner;
int main(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        one = 1;
#pragma omp section
        two = 2;
    }
    assert(one == 1 && two == 2);
#pragma omp parallel num_threads(3)
    {
        int given;
#pragma omp single copyprivate(given)
        {
            one = 5;
            given = 4;
        }
        assert(given == 4 && one == 5);
#pragma omp master
        two = 6;
#pragma omp barrier
        assert(two == 6);
#pragma omp for ordered
        for (int i = 0; i < 6; i++) {
#pragma omp ordered
            order[next++] = i;
        }
    }
    for (int i = 0; i < 6; i++) assert(order[i] == i);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2) reduction(+ : inner)
        inner++;
    }
    assert(inner == 4 || inner >= 2);
    return 0;
}
