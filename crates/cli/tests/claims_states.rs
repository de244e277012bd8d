//! Two ways that were once taken to lead to the same state, or to the same question, although only one of them fails.

mod support;

use support::Desk;
use support::claims::{nobody_claims_and_failures_are_found, run, verdicts};

/// A loop that gives up after a number of rounds is not one that waits.
#[test]
fn loops_that_count_are_followed_to_their_end_or_nothing_is_claimed() {
    let desk = Desk::new();
    desk.file(
        "rounds.c",
        "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *w(void *u) { flag = 1; return 0; }
int main(void) {
    pthread_t t;
    int i;
    pthread_create(&t, 0, w, 0);
    for (i = 0; i < 30 && !flag; i++) {}
    assert(i < 30);
    pthread_join(t, 0);
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "rounds.c") {
        assert_ne!(report["verdict"], "exhausted", "{who}: {report:#}");
        let must_find = ["states", "verify"].contains(&who.as_str());
        assert!(!must_find || report["verdict"] == "failure", "{who}: {report:#}");
    }
}

/// Two ways lead to the same memory and the same places in the code, and only one of them fails: what is different is where no
/// access is announced.
#[test]
fn what_no_access_shows_is_part_of_a_state() {
    const HEAD: &str = "#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static int x, one, other;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_key_t key;
static void pass(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
";
    const TAIL: &str = "
static void *writer(void *u) { x = 1; pass(); return 0; }
static void *third(void *u) { pass(); return 0; }
int main(void) {
    pthread_t t[3];
    pthread_key_create(&key, 0);
    pthread_create(&t[0], 0, reader, 0);
    pthread_create(&t[1], 0, writer, 0);
    pthread_create(&t[2], 0, third, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
";
    let desk = Desk::new();
    for (name, reader) in [
        (
            "specific",
            "pthread_setspecific(key, x ? &one : &other); pass(); if (pthread_getspecific(key) == &one) abort();",
        ),
        ("errno", "errno = 0; if (x) pthread_setspecific(key, 0), errno = EINTR; pass(); if (errno) abort();"),
        (
            "depth",
            "pthread_mutex_lock(&recursive); if (x) pthread_mutex_lock(&recursive); pass();
             pthread_mutex_unlock(&recursive);
             if (pthread_mutex_unlock(&recursive) == 0) abort();",
        ),
        (
            "manner",
            "if (x) pthread_rwlock_wrlock(&rw); else pthread_rwlock_rdlock(&rw); pass();
             if (pthread_rwlock_tryrdlock(&rw)) abort();",
        ),
        (
            "mask",
            "sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); if (x) pthread_sigmask(SIG_BLOCK, &s, 0); pass();
             sigemptyset(&s); pthread_sigmask(SIG_BLOCK, 0, &s); if (sigismember(&s, SIGUSR1)) abort();",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, format!("#define _GNU_SOURCE\n{HEAD}static void *reader(void *u) {{ {reader} return 0; }}{TAIL}"));
        let report = run(&desk, &["hunt", &file, "--strategy", "states"]);
        assert_eq!(report["verdict"], "failure", "{name}: {report:#}");
    }
}

/// What a thread is about to store, and nobody has in memory yet, is part of a state.
#[test]
fn what_is_about_to_be_stored_is_part_of_a_state() {
    let desk = Desk::new();
    for (name, update) in [
        ("store", "a = a + 3;"),
        ("exchange", "int own = a + 3; atomic_exchange(&a, own);"),
        ("compare", "int own = a, seen = 1; atomic_compare_exchange_strong(&a, &seen, own + 3);"),
        ("add", "int own = a ? 5 : 2; atomic_fetch_add(&a, own);"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int a;
static void *v(void *u) {{ {update} return 0; }}
static void *w(void *u) {{ a = 1; assert(a != 3); return 0; }}
int main(void) {{
    pthread_t s, t;
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}}
"
            ),
        );
        nobody_claims_and_failures_are_found(&desk, &file);
    }
}

/// What one thread accesses under a lock, or what looks like one, others may access atomically.
#[test]
fn no_lock_guards_what_others_access_atomically() {
    let desk = Desk::new();
    for (name, w) in [
        ("word", "if (__sync_bool_compare_and_swap(&y, 0, 1)) seen = x;"),
        ("mutex", "pthread_mutex_lock(&m); seen = x; pthread_mutex_unlock(&m);"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y, seen;
static void *u(void *p) {{ pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return (void *)(long)__atomic_exchange_n(&x, 1, __ATOMIC_SEQ_CST); }}
static void *v(void *p) {{ return (void *)(long)__atomic_exchange_n(&x, 2, __ATOMIC_SEQ_CST); }}
static void *w(void *p) {{ {w} return 0; }}
int main(void) {{
    pthread_t r, s, t;
    void *old;
    pthread_create(&r, 0, u, 0);
    pthread_create(&s, 0, v, 0);
    pthread_create(&t, 0, w, 0);
    pthread_join(r, &old);
    pthread_join(s, 0);
    pthread_join(t, 0);
    assert(!(x == 1 && (long)old == 2 && seen == 2));
    return 0;
}}
"
            ),
        );
        nobody_claims_and_failures_are_found(&desk, &file);
    }
}

/// Which function is called through a variable is decided when it is called, by the call itself or by a jump, whoever comes first.
#[test]
fn pointers_to_functions_that_threads_change_decide_what_is_called() {
    let desk = Desk::new();
    for (call, order) in [("act(); x--;", ["w", "v"]), ("act(); x--;", ["v", "w"]), ("act();", ["w", "v"])] {
        let [first, second] = order;
        desk.file(
            "pointer.c",
            format!(
                "#include <assert.h>
#include <pthread.h>
static int x, y;
static void one(void) {{ x++; }}
static void two(void) {{ y++; }}
static void (*act)(void) = one;
static void *v(void *u) {{ act = two; return 0; }}
__attribute__((noinline)) static void go(void) {{ {call} }}
static void *w(void *u) {{ go(); return 0; }}
int main(void) {{
    pthread_t s, t;
    pthread_create(&s, 0, {first}, 0);
    pthread_create(&t, 0, {second}, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    assert(y == 0);
    return 0;
}}
"
            ),
        );
        for level in ["-O0", "-O1", "-O2"] {
            let args = ["verify", "pointer.c", "--cflags", level, "--json", "-", "--quiet", "--jobs", "1"];
            let report = desk.run(&args).json();
            assert_eq!(report["verdict"], "failure", "{call} {order:?} {level}: {report:#}");
        }
    }
}

#[test]
fn a_walk_over_states_has_no_more_executions_than_there_are_states() {
    let desk = Desk::new();
    desk.file(
        "account.c",
        "#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100, operations;
static void *draw(void *amount) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&m);
        if (balance > 10) balance -= (int)(long)amount;
        operations++;
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, draw, (void *)(i + 1));
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return operations != 12;
}
",
    );
    // 34,650 orders, and 5 places for each of 3 threads.
    const STATES: u64 = 5 * 5 * 5;
    let walk = |jobs: &str| {
        let report = desk
            .run(&["hunt", "account.c", "--strategy", "states", "--json", "-", "--quiet", "--jobs", jobs])
            .json();
        assert_eq!(report["verdict"], "exhausted", "{report:#}");
        report["executions"].as_u64().expect("a number")
    };
    let executions = walk("1");
    assert!(executions <= STATES, "{executions}");
    assert_eq!(walk("2"), executions);
    let report = desk.run(&["verify", "account.c", "--json", "-", "--quiet", "--jobs", "1"]).json();
    assert_eq!(report["verdict"], "exhausted", "{report:#}");
}

/// Steps that commute are run in one order.
#[test]
fn threads_that_share_little_need_few_executions() {
    let desk = Desk::new();
    desk.file(
        "apart.c",
        "#include <pthread.h>
#include <stdatomic.h>
static struct { atomic_int count; char room[60]; } all[3];
static atomic_int ready;
static void *add(void *it) {
    for (int i = 0; i < 10; i++) atomic_fetch_add((atomic_int *)it, 1);
    return 0;
}
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, add, &all[i]);
    ready = all[0].count;
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    ready = all[1].count + all[2].count;
    return 0;
}
",
    );
    let report = run(&desk, &["hunt", "apart.c", "--strategy", "states"]);
    assert_eq!(report["verdict"], "exhausted", "{report:#}");
    // Of 11 places for each thread there are 1,331 combinations, and main looks at one of the threads only.
    let executions = report["executions"].as_u64().expect("a number");
    assert!(executions <= 500, "{executions}");
}

/// What a thread does alone, since the other one has ended, it might as well have done earlier.
#[test]
fn what_is_done_after_another_thread_has_ended_is_not_ordered_by_that() {
    let desk = Desk::new();
    desk.file(
        "alone.c",
        "#include <assert.h>
#include <pthread.h>
static int x;
static void *w(void *u) { x = 1; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    int seen = x;
    pthread_join(t, 0);
    assert(seen);
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "alone.c") {
        let must_find = ["dfs", "states", "verify"].contains(&who.as_str());
        assert!(!must_find || report["verdict"] == "failure", "{who}: {report:#}");
    }
}
