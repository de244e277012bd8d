/* Values that go through functions. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <time.h>
#include <unistd.h>
#define apart __attribute__((noinline))
int a, b, c, total;
double real;
__attribute__((noinline)) void consume(int x) { printf("%d\n", x); }

apart void into(int x) {
    if (x > 3) consume(1);                   // [b_into]
}
apart void gives(void) {
    into(a);                                 //: b_into
}
apart int back(void) {
    return b;                                //: b_back
}
apart void takes(void) {
    if (back() > 2) consume(1);              // [b_back]
}
apart int twice(int x) { return 2 * x; }
apart void through(void) {
    int x = twice(a);                        //: w_through
    total = x;                               // [w_through]
}
apart int inner(int x) { return x + 1; }
apart int outer(int x, int y) { return inner(x) + y; }
apart void through_two(void) {
    int x = outer(3, c);                     //: b_two
    if (x > 3) consume(1);                   // [b_two]
}
apart int second(int x, int y) { (void)x; return y; }
apart void first_is_dropped(void) {
    int x = a;                               //:
    int y = b;                               //: b_second
    if (second(x, y)) consume(1);            // [b_second]
}
apart int many(int p, int q, int r, int s, int t, int u, int v, int w) {
    int all = p + q + r + s + t + u + v;
    consume(all);
    return w;
}
apart void on_the_stack(void) {
    int x = a;                               //: b_eighth
    if (many(1, 2, 3, 4, 5, 6, 7, x)) consume(1);   // [b_eighth]
}
apart double half(double x) { return x / 2; }
apart void floats(void) {
    double x = half(real);                   //: b_half
    if (x > 3) consume(1);                   // [b_half]
}
apart int factorial(int n) {
    if (n < 2) return 1;                     // [b_recursion]
    return n * factorial(n - 1);             // [b_recursion]
}
apart void recursion(void) {
    total = factorial(a);                    //: b_recursion w_factorial [w_factorial]
}
apart void across(void) {
    int x = a;                               //: b_across
    consume(1);
    consume(2);
    if (x > rand()) consume(3);            // [b_across]
}
apart int adds(int x) { return x + 10; }
apart int subtracts(int x) { return x - 10; }
int (*volatile operation)(int) = adds;
int (*volatile other_operation)(int) = subtracts;
apart void pointer(void) {
    int (*f)(int) = operation;               //: steers
    int x = a;                               //: w_pointer
    int y = f(x);
    total = y;                               // [w_pointer]
}
apart void pure(void) {
    double x = real;                         //: b_pure
    if (sin(x) > 0.5) consume(1);            // [b_pure]
}
apart void *worker(void *x) { return x; }
apart void creates(void) {
    pthread_t thread;
    long x = a;                              //: steers
    pthread_create(&thread, 0, worker, (void *)x);
}
apart void allocates(void) {
    int n = a;                               //: steers
    free(malloc(n));
}
apart void sleeps(void) {
    usleep(a);                               //: steers
}
apart void sleeps_by_pointer(void) {
    struct timespec time = {0, 0};
    time.tv_nsec = a;                        //: steers w_time? [w_time]
    nanosleep(&time, 0);
}
apart void ends(void) {
    exit(a);                                 //: steers
}
pthread_mutex_t locks[4];
apart void chooses_a_lock(void) {
    int i = a;                               //: steers
    pthread_mutex_lock(&locks[i]);
    pthread_mutex_unlock(&locks[i]);
}
apart void gives_unknown(void) {
    int x = a;                               //: unknown
    qsort(locks, x, 1, 0);
}
apart void fills(int *place, int x) {
    *place = x;                              // [w_fills]
}
apart void given_place(void) {
    int mine = 0;
    int x = a;                               //: b_place w_fills
    fills(&mine, x);
    if (mine) consume(1);                    //?: b_place [b_place]
}
struct pair { long one, two; };
apart struct pair both(void) {
    struct pair p;
    p.one = a;                               //: b_pair_one
    p.two = b;                               //: b_pair_two
    return p;
}
apart void splits(void) {
    struct pair p = both();
    if (p.one > 3) consume(1);               // [b_pair_one]
    if (p.two > 3) consume(1);               // [b_pair_two]
}
struct large { long all[6]; };
apart struct large many_words(void) {
    struct large p = {{0}};
    p.all[2] = a;                            //: b_large w_large [w_large]
    return p;                                //?: b_large w_large
}
apart void picks(void) {
    struct large p = many_words();           // [w_large]
    if (p.all[2] > 3) consume(1);            //?: b_large [b_large]
}
int main(void) { return 0; }
