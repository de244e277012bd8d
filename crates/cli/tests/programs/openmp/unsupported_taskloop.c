// expect: uncontrolled
// message: taskloop
// strategies: random
// uncut
// flags: -fopenmp
int main(void) {
    int sum[10];
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop
    for (int i = 0; i < 10; i++) sum[i] = i;
    return sum[0];
}
