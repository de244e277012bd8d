// expect: deadlock
// uncut
// flags: -fopenmp
#include <omp.h>
int main(void) {
    omp_lock_t a, b;
    omp_init_lock(&a);
    omp_init_lock(&b);
#pragma omp parallel num_threads(2)
    {
        omp_lock_t *first = omp_get_thread_num() ? &a : &b, *second = omp_get_thread_num() ? &b : &a;
        omp_set_lock(first);
        omp_set_lock(second);
        omp_unset_lock(second);
        omp_unset_lock(first);
    }
    return 0;
}
