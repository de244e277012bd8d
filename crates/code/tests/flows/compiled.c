/* What optimizers make of source code: inlined functions, merged ends, values in registers across calls. */
#include <stdint.h>
#include <stdio.h>
#define apart __attribute__((noinline))
int a, b, c, total, other_total;
__attribute__((noinline)) void consume(int x) { printf("%d\n", x); }

static inline int clamped(int x) {
    if (x > 100) return 100;                 // [b_clamp]
    return x;
}
apart void inlined(void) {
    int x = clamped(a);                      //: b_clamp w_inlined
    total = x;                               // [w_inlined]
}
static int hidden(int x) { return x * x; }
apart void only_caller(void) {
    int x = hidden(b);                       //: b_hidden
    if (x > 3) consume(1);                   // [b_hidden]
}
apart void merged_ends(int which) {
    if (which) {
        total = a;                           //: w_merged [w_merged]
    } else {
        total = b;                           //: w_merged [w_merged]
    }
}
apart void nested(void) {
    int x = a;                               //: b_outer w_nested
    if (x > 3) {                             // [b_outer]
        int y = b;                           //: b_inner
        if (y > 5) {                         // [b_inner]
            total = x + 1;                   // [w_nested]
        }
    }
}
apart void minimum(void) {
    int x = a;                               //: w_min b_min?
    int y = b;                               //: w_min b_min?
    total = x < y ? x : y;                   // [w_min] [b_min]
}
apart void pressure(void) {
    int p = a, q = b, r = c;                 //: w_pressure
    consume(1);
    consume(2);
    total = p * q + r;                       // [w_pressure]
}
apart void loop_carried(int n) {
    int last = 0;
    for (int i = 0; i < n; i++) {
        int x = *(volatile int *)&a;         //: b_carried
        if (x != last) consume(i);           // [b_carried]
        last = x;
    }
}
apart void two_destinations(void) {
    int x = a;                               //: w_first w_other
    total = x;                               // [w_first]
    other_total = x + 1;                     // [w_other]
}
apart void early_return(void) {
    int x = a;                               //: b_early
    if (!x) return;                          // [b_early]
    consume(2);
}
apart void big_switch(void) {
    int x = a;                               //: b_cases w_case?
    int y;
    switch (x) {                             // [b_cases]
    case 1: y = 10; break;
    case 2: y = 27; break;
    case 3: y = 31; break;
    case 4: y = 44; break;
    case 5: y = 1; break;
    case 6: y = 8; break;
    default: y = 0;
    }
    total = y;                               // [w_case]
}
apart void long_double(void) {
    long double x = a;                       //: b_long
    if (x * 3 > 7.25L) consume(1);           // [b_long]
}
int main(void) { return 0; }
