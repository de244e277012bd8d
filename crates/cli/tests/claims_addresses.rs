//! Programs whose way depends on the addresses of memory: they may be reasoned about with a heap for each thread, but run by themselves with one.

mod support;

use support::Desk;
use support::claims::{nobody_claims_and_failures_are_found, run, verdicts};

/// A block that was given back is handed out again, and whoever kept its address takes the new block for the old one.
const REUSED: &str = "#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *current;
static int generation;
static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    int *seen = current, then = generation;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (current == seen) assert(generation == then);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *replace(void *unused) {
    pthread_mutex_lock(&lock);
    free(current);
    current = malloc(sizeof *current);
    generation++;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t one, other;
    current = malloc(sizeof *current);
    pthread_create(&one, 0, look, 0);
    pthread_create(&other, 0, replace, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
";

/// Whose block lies lower depends on who asks first.
const COMPARED: &str = "#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static char *blocks[2];
static void *take(void *place) { *(char **)place = malloc(16); return 0; }
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, take, blocks);
    pthread_create(&other, 0, take, blocks + 1);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(blocks[0] < blocks[1]);
    return 0;
}
";

/// What was exchanged is back, as a new block at the address of the old one (the ABA problem).
const EXCHANGED: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static void *_Atomic top;
static int took, replaced;
static void *take(void *unused) {
    void *seen = top;
    if (!seen || replaced) return unused;
    if (atomic_compare_exchange_strong(&top, &seen, (void *)0)) took = 1;
    return unused;
}
static void *replace(void *unused) {
    void *mine = atomic_exchange(&top, (void *)0);
    free(mine);
    replaced = mine != 0;
    top = malloc(24);
    return unused;
}
int main(void) {
    pthread_t one, other;
    top = malloc(24);
    pthread_create(&one, 0, take, 0);
    pthread_create(&other, 0, replace, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(!(took && replaced));
    return 0;
}
";

#[test]
fn addresses_that_are_handed_out_again_or_in_another_order_are_tried() {
    let desk = Desk::new();
    for (file, source) in [("reused.c", REUSED), ("compared.c", COMPARED), ("exchanged.c", EXCHANGED)] {
        desk.file(file, source);
        nobody_claims_and_failures_are_found(&desk, file);
    }
}

/// Where it makes no difference, a claim is made, and the executions with one heap are counted like all others.
#[test]
fn a_program_that_allocates_in_two_threads_is_claimed() {
    let desk = Desk::new();
    desk.file(
        "stack.c",
        "#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next; };
static struct node *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *push_and_pop(void *unused) {
    struct node *mine = malloc(sizeof *mine), *top;
    pthread_mutex_lock(&lock);
    mine->next = head;
    head = mine;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    top = head;
    head = top->next;
    pthread_mutex_unlock(&lock);
    free(top);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, push_and_pop, 0);
    pthread_create(&other, 0, push_and_pop, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(!head);
    return 0;
}
",
    );
    for strategy in ["states", "total"] {
        let report = run(&desk, &["hunt", "stack.c", "--strategy", strategy]);
        assert_eq!(report["verdict"], "exhausted", "{strategy}: {report:#}");
    }
    let report = run(&desk, &["verify", "stack.c"]);
    assert_eq!(report["verdict"], "exhausted", "{report:#}");
}

/// To write a field of some bits is to read its neighbours, and no compiler announces that.
#[test]
fn a_write_that_reads_as_well_is_a_doubt_for_every_strategy() {
    let desk = Desk::new();
    desk.file(
        "bits.c",
        "#include <assert.h>
#include <pthread.h>
static struct { unsigned low : 4, high : 4; } both;
static void *set_low(void *unused) { both.low = 3; return unused; }
static void *set_high(void *unused) { both.high = 3; return unused; }
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, set_low, 0);
    pthread_create(&other, 0, set_high, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(both.low == 3 && both.high == 3);
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "bits.c") {
        assert_eq!(report["exhausted"], false, "{who}: {report:#}");
        let doubt = report["warnings"].as_array().expect("warnings").iter().any(|warning| {
            let words = warning.as_str().unwrap_or_default();
            words.contains("announced as a write") && words.contains("bits.c:4")
        });
        assert!(doubt, "{who}: {report:#}");
    }
}

/// Two threads replace the same block. Whoever is in between finds the address of the old block at the new one, and frees that.
const FREED_TWICE: &str = "#include <pthread.h>
#include <stdlib.h>
static void *volatile block;
static void *replace(void *unused) {
    free(block);
    block = malloc(8);
    return unused;
}
int main(void) {
    pthread_t one, other;
    block = malloc(8);
    pthread_create(&one, 0, replace, 0);
    pthread_create(&other, 0, replace, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
";

#[test]
fn a_block_that_is_freed_twice_is_found_even_if_its_address_comes_again() {
    let desk = Desk::new();
    desk.file("twice.c", FREED_TWICE);
    nobody_claims_and_failures_are_found(&desk, "twice.c");
    let report = desk.run(&["hunt", "twice.c", "--json", "-", "--quiet", "--executions", "50"]).json();
    assert_eq!(report["failure"]["kind"], "use-after-free", "{report:#}");
    assert_eq!(report["failure"]["reproduced"], true, "{report:#}");
    let schedule = report["failure"]["schedule"].as_str().expect("a schedule");
    let replay = desk.run(&["replay", schedule, "--quiet"]);
    assert_eq!(replay.code, Some(1), "{}{}", replay.stdout, replay.stderr);
}
