/* Values that are addresses, indices, or parts of larger things. */
#include <string.h>
#include <stdint.h>
#include <stdio.h>
#define apart __attribute__((noinline))
int a, b, total;
int table[16];
struct node { int key; struct node *next; int data[4]; } *head, pool[4], one, two;
struct bits { unsigned low : 3, high : 5; int rest; } bits;
char text[32], other[32];
static const int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
__attribute__((noinline)) void consume(int x) { printf("%d\n", x); }

apart void field(void) {
    int x = one.key;                         //: b_field
    if (x > 3) consume(1);                   // [b_field]
}
apart void follows(void) {
    struct node *p = head;                   //: steers b_follows
    if (p->key > 3) consume(1);              //: b_follows [b_follows]
}
apart void chain(void) {
    struct node *p = head;                   //: steers w_chain
    struct node *q = p->next;                //: steers w_chain
    total = q->key;                          //: w_chain [w_chain]
}
apart void walks(void) {
    struct node *p = head;                   //: steers b_walks
    while (p) {                              // [b_walks]
        p = p->next;                         //: steers b_walks
    }
}
apart void indexes(void) {
    int i = a;                               //: steers w_index
    total = table[i & 15];                   //: w_index [w_index]
}
apart void stores_at(void) {
    int i = a;                               //: steers
    table[i & 15] = 3;
}
apart void constant_table(void) {
    int i = a;                               //: b_square
    if (squares[i & 7] > 10) consume(1);     // [b_square]
}
apart void copies_struct(void) {
    one = two;                               //: w_copy [w_copy]
}
apart void copies_memory(void) {
    memcpy(&one, &two, sizeof one);          //: w_memcpy [w_memcpy]
}
apart void copies_so_much(void) {
    size_t n = a;                            //: steers
    memcpy(text, other, n & 31);             //: w_much [w_much]
}
apart void compares_text(void) {
    if (strcmp(text, other) == 0) consume(1);   //: b_text [b_text]
}
apart void measures_text(void) {
    total = (int)strlen(text);               //: w_length [w_length]
}
apart void fills_memory(void) {
    int x = a;                               //: w_fill
    memset(text, x, sizeof text);            // [w_fill]
}
apart void reads_bits(void) {
    unsigned x = bits.high;                  //: b_bits
    if (x > 3) consume(1);                   // [b_bits]
}
apart void writes_bits(void) {
    unsigned x = b;                          //: w_bits
    bits.low = x;                            //?: w_bits [w_bits]
}
apart void local_array(void) {
    int mine[4];
    mine[0] = a;                             //: b_array
    mine[1] = b;                             //:
    if (mine[0]) consume(1);                 // [b_array]
}
apart void copy_on_stack(void) {
    struct node mine;
    memcpy(&mine, &two, sizeof mine);        //: b_mine w_mine [w_mine]
    if (mine.key > 5) consume(1);            //?: b_mine [b_mine]
}
apart void exchanges(void) {
    int x = a;                               //: w_b
    int y = b;                               //: w_a
    a = y;                                   //?: w_b [w_a]
    b = x;                                   //?: w_a [w_b]
}
apart void conditional_write(void) {
    int x = a;                               //: b_cond
    if (x > 3) total = 1;                    // [b_cond]
}
apart void reads_twice(void) {
    int x = *(volatile int *)&a;             //: b_once
    int y = *(volatile int *)&a;             //: w_again
    if (x) consume(1);                       // [b_once]
    total = y;                               // [w_again]
}
apart void asks_then_updates(void) {
    if (total > 5)                           //: b_ask w_ask? [b_ask]
        total += 3;                          //?: w_ask [w_ask]
}
int main(void) { return 0; }
