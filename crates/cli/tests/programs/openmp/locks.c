// expect: pass
// uncut
// flags: -fopenmp
// Critical sections with and without a name, locks, atomic statements.
#include <assert.h>
#include <omp.h>
static int plain, named, locked, nested;
static long double large;
static int small;
int main(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(3)
    {
        for (int i = 0; i < 2; i++) {
#pragma omp critical
            plain++;
#pragma omp critical(other)
            named++;
            omp_set_lock(&lock);
            locked++;
            omp_unset_lock(&lock);
            omp_set_nest_lock(&nest);
            if (omp_test_nest_lock(&nest) == 2) nested++;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
#pragma omp atomic
            small++;
#pragma omp atomic
            large += 1;
        }
        if (omp_test_lock(&lock)) {
            locked++;
            locked--;
            omp_unset_lock(&lock);
        }
    }
    omp_destroy_nest_lock(&nest);
    omp_destroy_lock(&lock);
    assert(plain == 6 && named == 6 && locked == 6 && nested == 6 && small == 6 && large == 6);
    return 0;
}
