//! Programs that wait for something that never comes, and what is said of them.

mod support;

use serde_json::Value;
use support::{Answer, Desk};

fn write(desk: &Desk, name: &str, text: &str) {
    std::fs::write(desk.path(name), text).expect("a writable folder");
}

fn hunt(desk: &Desk, program: &str, more: &[&str]) -> Answer {
    let mut args = vec!["hunt", program, "--executions", "2000", "--time", "60"];
    args.extend(more);
    desk.run(&args)
}

fn message(report: &Value) -> &str {
    report["failure"]["message"].as_str().unwrap_or_default()
}

const SPINS: &str = "#include <pthread.h>
static volatile int go;
static void *work(void *unused) {
    while (!go) {}
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn a_thread_that_spins_for_ever_is_named_with_what_it_reads() {
    let desk = Desk::new();
    write(&desk, "spins.c", SPINS);
    for strategy in ["auto", "dfs", "round-robin"] {
        let report = hunt(&desk, "spins.c", &["--json", "-", "--strategy", strategy]).json();
        let failure = &report["failure"];
        assert_eq!((failure["kind"].as_str(), failure["site"].as_str()), (Some("hang"), Some("spins.c:4")));
        assert!(message(&report).contains("T1 spins, reading go = 0, at spins.c:4"), "{}", message(&report));
        assert_eq!(failure["reproduced"], true, "{strategy}");
        assert!(report["steps"].as_u64() < Some(10_000), "{strategy}: {} steps", report["steps"]);
        let schedule = failure["schedule"].as_str().expect("a schedule");
        let replay = desk.run(&["replay", schedule, "--json", "-"]).json();
        assert_eq!(replay["replay"]["reproduced"], 1, "{strategy}");
        assert_eq!(message(&replay), message(&report), "{strategy}");
    }
}

#[test]
fn a_thread_that_computes_without_end_is_cut_three_times_at_most_and_is_no_failure() {
    let desk = Desk::new();
    let program = "#include <pthread.h>
static void *work(void *unused) {
    for (unsigned long x = 1; x; x *= 3) {}
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
";
    write(&desk, "computes.c", program);
    let answer = desk.run(&["check", "computes.c", "--stall", "1"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{}", answer.stderr);
    for text in ["(3 were cut)", "T1 made no scheduling point for 1 s", "--stall"] {
        assert!(answer.stderr.contains(text), "`{text}` is missing:\n{}", answer.stderr);
    }
    let schedule = desk.path(".threadbare/computes-1.schedule");
    assert!(!schedule.exists(), "a cut execution leaves no schedule");
}

#[test]
fn a_spin_lock_in_inline_assembly_is_named_and_no_failure() {
    let desk = Desk::new();
    let program = "\
#include <pthread.h>
#include <sched.h>
static volatile int lock = 1;
static void *work(void *unused) {
    int one = 1;
    do {
        __asm__ volatile(\"pause; xchgl %0, %1\" : \"+r\"(one) : \"m\"(lock) : \"memory\");
    } while (one);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    sched_yield();
    __asm__ volatile(\"movl $0, %0\" : \"=m\"(lock));
    pthread_join(thread, 0);
    return 0;
}
";
    write(&desk, "spins.c", program);
    let answer = desk.run(&["hunt", "spins.c", "--stall", "1", "--executions", "1"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{}", answer.stderr);
    for text in ["T1 made no scheduling point for 1 s", "spins.c:7", "inline assembly"] {
        assert!(answer.stderr.contains(text), "`{text}` is missing:\n{}", answer.stderr);
    }
}

#[test]
fn what_only_the_compiler_knows_is_no_step() {
    let desk = Desk::new();
    let program = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int a;
static void *work(void *unused) {
    atomic_store(&a, atomic_load(&a) + 1);
    return unused;
}
int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, work, 0);
    pthread_create(&y, 0, work, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    assert(atomic_load(&a) == 2);
    return 0;
}
";
    write(&desk, "temporary.c", program);
    let answer = hunt(&desk, "temporary.c", &["--strategy", "random", "--no-minimise"]);
    assert!(answer.stdout.contains("✗ assertion"), "{}", answer.stdout);
    assert!(!answer.stdout.contains("__atomic_"), "{}", answer.stdout);
}

const LOST_WAKE_UP: &str = "use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};

fn main() {
    let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let setter = shared.clone();
    let thread = std::thread::spawn(move || {
        SET
    });
    let mut guard = shared.1.lock().unwrap();
    while !shared.0.load(SeqCst) {
        guard = shared.2.wait(guard).unwrap();
    }
    drop(guard);
    thread.join().unwrap();
}
";

#[test]
fn a_rust_wake_up_between_the_check_and_the_wait_is_lost() {
    let desk = Desk::new();
    let unlocked = "setter.0.store(true, SeqCst);\n        setter.2.notify_one();";
    write(&desk, "lost.rs", &LOST_WAKE_UP.replace("SET", unlocked));
    for strategy in ["auto", "random", "pos", "dfs"] {
        let report = hunt(&desk, "lost.rs", &["--json", "-", "--strategy", strategy]).json();
        let failure = &report["failure"];
        assert_eq!(
            (failure["kind"].as_str(), failure["site"].as_str()),
            (Some("deadlock"), Some("lost.rs:13"))
        );
        assert_eq!(failure["reproduced"], true, "{strategy}");
    }
}

#[test]
fn an_exhausted_rust_program_is_reported_with_what_was_not_seen() {
    let desk = Desk::new();
    let locked = "let _guard = setter.1.lock().unwrap();\n        setter.0.store(true, SeqCst);\n        \
                  setter.2.notify_one();";
    write(&desk, "kept.rs", &LOST_WAKE_UP.replace("SET", locked));
    let answer = desk.run(&["hunt", "kept.rs", "--strategy", "dfs", "--preemption-bound", "1"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stdout);
    for text in ["exhausted", "Rust's standard library, which is not instrumented"] {
        assert!(answer.stdout.contains(text), "`{text}` is missing:\n{}", answer.stdout);
    }
}

#[test]
fn a_deadlock_of_rust_mutexes_says_who_holds_what() {
    let desk = Desk::new();
    let program = "use std::sync::Mutex;

static A: Mutex<i32> = Mutex::new(1);
static B: Mutex<i32> = Mutex::new(2);

fn add(from: &Mutex<i32>, to: &Mutex<i32>) {
    let first = from.lock().unwrap();
    *to.lock().unwrap() += *first;
}

fn main() {
    std::thread::scope(|scope| {
        scope.spawn(|| add(&A, &B));
        scope.spawn(|| add(&B, &A));
    });
}
";
    write(&desk, "both.rs", program);
    let report = hunt(&desk, "both.rs", &["--json", "-"]).json();
    assert_eq!(report["failure"]["kind"], "deadlock");
    let message = message(&report);
    for text in [
        "deadlock: T1 waits for T2 waits for T1",
        "T1 holds both::A (locked at both.rs:7) and waits for lock both::B, held by T2, at both.rs:8",
        "T2 holds both::B (locked at both.rs:7) and waits for lock both::A, held by T1, at both.rs:8",
    ] {
        assert!(message.contains(text), "`{text}` is missing:\n{message}");
    }
}
