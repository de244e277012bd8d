/* Values that are computed with, and where they end. A line that reads has its truth behind `//:`.
   `b1` names the branch on the line marked `[b1]`, `w1` the write on the line marked `[w1]`. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#define apart __attribute__((noinline))
int a, b, c, d, total, flag;
int64_t wide;
int8_t small;
float single;
double real;
__attribute__((noinline)) void consume(int x) { printf("%d\n", x); }
extern volatile int sink;

apart int to_branch(void) {
    int x = a * 3 + 1;                       //: b_plain
    if (x > 10) consume(1);                  // [b_plain]
    return 0;
}
apart int two_to_one_branch(void) {
    int x = a;                               //: b_two
    int y = b;                               //: b_two
    if (x + y > 4) consume(2);               // [b_two]
    return 0;
}
apart int only_one_decides(void) {
    int x = a;                               //: b_one
    int y = b;                               //: w_one
    if (x > 4) consume(2);                   // [b_one]
    total = y;                               // [w_one]
    return 0;
}
apart void to_write(void) {
    int x = b + 2;                           //: w_plain
    total = x;                               // [w_plain]
}
apart void updates(void) {
    total += b;                              //: w_updates [w_updates]
}
apart void counts(void) {
    total++;                                 //: w_counts [w_counts]
}
apart void only_printed(void) {
    printf("%d\n", a);                       //:
}
apart void unused(void) {
    (void)*(volatile int *)&a;               //:
}
apart void overwritten(void) {
    int x = *(volatile int *)&a;             //:
    x = 5;
    if (x > sink) consume(x);                //: b_over [b_over]
}
apart void chosen(void) {
    int x = a > 3 ? 7 : 9;                   //: b_chosen w_chosen? [b_chosen]
    total = x;                               // [w_chosen]
}
apart void chosen_between(void) {
    int y = *(volatile int *)&b;             //: w_between
    int z = *(volatile int *)&c;             //: w_between
    total = a > 3 ? y : z;                   //: b_between w_between? [w_between] [b_between]
}
apart int switches(void) {
    switch (a) {                             //: b_switch [b_switch]
    case 0: consume(3); break;
    case 1: consume(1); break;
    case 2: consume(4); break;
    case 3: consume(1); break;
    case 4: consume(5); break;
    case 5: consume(9); break;
    case 6: consume(2); break;
    }
    return 0;
}
apart void accumulates(void) {
    int sum = 0;
    for (int i = 0; i < 10; i++) {           // [b_loop]
        sum += *(volatile int *)&a;          //: b_sum
    }
    if (sum > 100) consume(sum);             // [b_sum]
}
apart void bounds_a_loop(void) {
    int n = a;                               //: b_bound
    for (int i = 0; i < n; i++)              // [b_bound]
        consume(i);
}
apart void waits(void) {
    while (*(volatile int *)&flag == 0)      //: b_wait [b_wait]
        consume(0);
}
apart void first_of_two(void) {
    int x = a;                               //: b_and
    int y = b;                               //: b_and
    if (x > 1 && y > 2) consume(1);          // [b_and]
}
apart void compares_wide(void) {
    int64_t x = wide;                        //: b_wide
    if (x > 1000000000000) consume(1);       // [b_wide]
}
apart void compares_small(void) {
    int8_t x = small;                        //: b_small
    if (x < 7) consume(1);                   // [b_small]
}
apart void compares_single(void) {
    float x = single;                        //: b_single
    if (x * 2 > 7.5f) consume(1);            // [b_single]
}
apart void compares_real(void) {
    double x = real;                         //: b_real
    double y = a;                            //: b_real
    if (x < y) consume(1);                   // [b_real]
}
apart void converts(void) {
    double x = a;                            //: w_real
    real = x / 3;                            // [w_real]
}
apart bool is_large(void) {
    return a > 100;                          //: b_large
}
apart void asks(void) {
    if (is_large()) consume(1);              // [b_large]
}
apart void negates(void) {
    bool x = !a;                             //: w_not
    total = x;                               // [w_not]
}
apart void masks(void) {
    unsigned x = (unsigned)a >> 3;           //: b_mask
    if (x & 1) consume(1);                   // [b_mask]
}
apart void divides(void) {
    int x = a;                               //: w_quotient w_rest
    int y = x / 7;
    total = y;                               // [w_quotient]
    d = x % 7;                               // [w_rest]
}
apart void multiplies_wide(void) {
    uint64_t x = (uint64_t)wide;             //: w_high
    wide = (int64_t)((unsigned __int128)x * 0x123456789abcdefull >> 64);   //?: w_high [w_high]
}
int main(void) { return 0; }
