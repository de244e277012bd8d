/* Atomic operations: the call makes them. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#define apart __attribute__((noinline))
_Atomic int at, other;
_Atomic int64_t wide;
int a, total;
__attribute__((noinline)) void consume(int x) { printf("%d\n", x); }

apart void loads(void) {
    int x = atomic_load(&at);                //: b_load
    if (x > 3) consume(1);                   // [b_load]
}
apart void stores(void) {
    int x = a;                               //: w_store
    atomic_store(&at, x);                    // [w_store]
}
apart void adds_unused(void) {
    atomic_fetch_add(&at, 1);                //: w_add [w_add]
}
apart void adds_used(void) {
    int x = atomic_fetch_add(&at, 1);        //: w_used b_used [w_used]
    if (x == 0) consume(1);                  // [b_used]
}
apart void adds_what_was_read(void) {
    int x = a;                               //: w_what
    atomic_fetch_add(&at, x);                //: w_what [w_what]
}
apart void exchanges(void) {
    int x = a;                               //: w_exchange
    int y = atomic_exchange(&at, x);         //: w_total [w_exchange]
    total = y;                               // [w_total]
}
apart void compares(void) {
    int e = 0;
    if (atomic_compare_exchange_strong(&at, &e, 1))   //: w_cas b_cas [w_cas] [b_cas]
        consume(1);
}
apart void retries(void) {
    int e = atomic_load(&at);                //: b_retry w_retry w_local? [w_local]
    while (!atomic_compare_exchange_weak(&at, &e, e + 1)) {}   //: b_retry w_retry w_local? [b_retry] [w_retry]
}
apart void finds(void) {
    int e = 5;
    atomic_compare_exchange_strong(&at, &e, 1);   //: w_find b_find? b_test [w_find] [b_find]
    if (e > 7) consume(1);                   //?: b_test [b_test]
}
apart void wide_one(void) {
    int64_t x = atomic_load(&wide);          //: w_wide
    atomic_store(&wide, x + 1);              // [w_wide]
}
apart void spins(void) {
    while (atomic_load(&at) == 0) {}         //: b_spin [b_spin]
}
apart void moves(void) {
    int x = atomic_load(&at);                //: w_move
    atomic_store(&other, x);                 // [w_move]
}
int main(void) { return 0; }
