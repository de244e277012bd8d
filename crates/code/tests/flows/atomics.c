/* Atomic operations: the call makes them. */
#include <stdint.h>
#include <stdio.h>
#define apart __attribute__((noinline))
int at, other;
int64_t wide;
int a, total;
__attribute__((noinline)) void consume(int x) { printf("%d\n", x); }

apart void loads(void) {
    int x = __atomic_load_n(&at, 5);         //: b_load
    if (x > 3) consume(1);                   // [b_load]
}
apart void stores(void) {
    int x = a;                               //: w_store
    __atomic_store_n(&at, x, 5);             // [w_store]
}
apart void adds_unused(void) {
    __atomic_fetch_add(&at, 1, 5);           //: w_add [w_add]
}
apart void adds_used(void) {
    int x = __atomic_fetch_add(&at, 1, 5);   //: w_used b_used [w_used]
    if (x == 0) consume(1);                  // [b_used]
}
apart void adds_what_was_read(void) {
    int x = a;                               //: w_what
    __atomic_fetch_add(&at, x, 5);           //: w_what [w_what]
}
apart void exchanges(void) {
    int x = a;                               //: w_exchange
    int y = __atomic_exchange_n(&at, x, 5);  //: w_total [w_exchange]
    total = y;                               // [w_total]
}
apart void compares(void) {
    int e = 0;
    int done = __atomic_compare_exchange_n(&at, &e, 1, 0, 5, 5);   //: w_cas b_cas b_inside? [w_cas] [b_inside]
    if (done) consume(1);                    // [b_cas]
}
apart void retries(void) {
    int e = __atomic_load_n(&at, 5);         //: b_retry w_retry w_local? [w_local]
    for (;;) {
        int next = e + 1;                    //?: w_retry
        if (__atomic_compare_exchange_n(&at, &e, next, 1, 5, 5)) break;   //: b_retry w_retry [b_retry] [w_retry]
    }
}
apart void finds(void) {
    int e = 5;
    __atomic_compare_exchange_n(&at, &e, 1, 0, 5, 5);   //: w_find b_find? b_test [w_find] [b_find]
    if (e > 7) consume(1);                   //?: b_test [b_test]
}
apart void expects(void) {
    int e = a;                               //: w_expected b_expected w_mine? b_within? [w_mine]
    int done = __atomic_compare_exchange_n(&at, &e, 1, 0, 5, 5);   //: w_expected b_expected b_within? [w_expected] [b_within]
    if (done) consume(1);                    // [b_expected]
}
apart void wide_one(void) {
    int64_t x = __atomic_load_n(&wide, 5);   //: w_wide
    __atomic_store_n(&wide, x + 1, 5);       // [w_wide]
}
apart void spins(void) {
    while (__atomic_load_n(&at, 5) == 0) {}  //: b_spin [b_spin]
}
apart void moves(void) {
    int x = __atomic_load_n(&at, 5);         //: w_move
    __atomic_store_n(&other, x, 5);          // [w_move]
}
int main(void) { return 0; }
