// expect: uncontrolled
// message: OpenMP
// strategies: random
// flags: -fopenmp
int main(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < 10; i++) {
        sum += i;
    }
    return sum != 45;
}
