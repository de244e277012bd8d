//! Tests that are made for objects.

mod support;

use serde_json::Value;
use support::{Desk, repository};

fn generate(desk: &Desk, program: &str, more: &[&str]) -> Value {
    let mut words = vec!["generate", program, "--json", "-"];
    words.extend_from_slice(more);
    let answer = desk.run(&words);
    let report = answer.json();
    let expected = if report["verdict"] == "failure" { 1 } else { 0 };
    assert_eq!(answer.code, Some(expected), "{}", answer.stderr);
    report
}

fn example() -> String {
    std::fs::read_to_string(repository("examples/stack_operations.c")).expect("the example")
}

#[test]
fn a_stack_that_is_not_linearizable_gets_a_short_failing_test() {
    let desk = Desk::new();
    let source = repository("examples/stack_operations.c").display().to_string();
    let report = generate(&desk, &source, &["--linearizable"]);
    assert_eq!(report["verdict"], "failure");
    // One item, and two threads that take it.
    let test = report["generated"]["failing"].as_str().expect("a test");
    let calls: Vec<&str> =
        test.split(['|', ';']).map(|call| call.trim().split(' ').next().unwrap()).collect();
    assert_eq!(calls, ["push", "pop", "pop"], "{test}");

    let schedule = report["failure"]["schedule"].as_str().expect("its schedule");
    assert_eq!(desk.run(&["replay", schedule]).code, Some(1));
    // The test is self-contained: the file is a program like any other.
    let file = report["generated"]["source"].as_str().expect("its source");
    let hunted = desk.run(&["hunt", file, "--json", "-"]);
    assert_eq!(hunted.json()["failure"]["kind"], "assertion", "{}", hunted.stderr);
}

#[test]
fn the_same_stack_with_the_lock_in_its_place_passes() {
    let desk = Desk::new();
    let wrong = "    if (stack->top == 0)\n        return -1;\n    pthread_mutex_lock(&stack->lock);\n    int item = stack->items[--stack->top];\n";
    let right = "    pthread_mutex_lock(&stack->lock);\n    int item = stack->top == 0 ? -1 : stack->items[--stack->top];\n";
    assert!(example().contains(wrong));
    let source = desk.file("right.c", example().replace(wrong, right));
    let report = generate(
        &desk,
        &source.display().to_string(),
        &["--linearizable", "--tests", "40", "--executions", "20"],
    );
    assert_eq!(report["verdict"], "clean", "{report}");
    assert_eq!(report["generated"]["made"], 40);
    assert_eq!(report["generated"]["skipped"], 0);
    // Later tests show less and less that is new.
    let kept = report["generated"]["kept"].as_array().expect("a list").len();
    assert!((1..40).contains(&kept), "{kept}");
    let covered = &report["coverage"]["map"];
    assert!(
        covered["covered"].as_u64() > Some(0) && covered["covered"].as_u64() <= covered["estimated"].as_u64()
    );
}

/// A map whose `get` throws where there is nothing; `twice` is the lock that is missing in the faulty one.
const MAP: &str = r#"
#include <map>
#include <mutex>
#include <stdexcept>
#include <threadbare.h>

struct Map {
    std::mutex lock;
    std::map<long, long> items;
    long get(long key)
    {
        std::lock_guard<std::mutex> held(lock);
        return items.at(key);
    }
    long put_if_absent(long key, long value)
    {
        LOCK_ALL
        {
            LOCK_PART
            if (items.count(key))
                return 0;
        }
        LOCK_PART
        items[key] = value;
        return 1;
    }
};

THREADBARE_OBJECT(Map, new Map, delete self)
THREADBARE_OPERATION(get, 1) { return self->get(arg[0]); }
THREADBARE_OPERATION(put_if_absent, 2) { return self->put_if_absent(arg[0], arg[1]); }
"#;

#[test]
fn exceptions_are_results_and_check_then_act_is_found_in_a_map() {
    let desk = Desk::new();
    let lock = "std::lock_guard<std::mutex> held(lock);";
    let few = ["--linearizable", "--tests", "60", "--executions", "20"];

    let right = desk.file("right.cpp", MAP.replace("LOCK_ALL", lock).replace("LOCK_PART", ""));
    let report = generate(&desk, &right.display().to_string(), &few);
    assert_eq!(report["verdict"], "clean", "{report}");

    let faulty = desk.file("faulty.cpp", MAP.replace("LOCK_ALL", "").replace("LOCK_PART", lock));
    let report = generate(&desk, &faulty.display().to_string(), &few);
    assert_eq!(report["verdict"], "failure", "{report}");
    let test = report["generated"]["failing"].as_str().expect("a test");
    assert!(test.matches("put_if_absent").count() >= 2, "{test}");
    assert!(report["failure"]["message"].as_str().is_some_and(|text| text.contains("abort")), "{report}");
}

#[test]
fn the_seed_decides_which_tests_are_made() {
    let desk = Desk::new();
    let source = repository("examples/stack_operations.c").display().to_string();
    let figures = |seed: &str| {
        let report = generate(&desk, &source, &["--tests", "10", "--executions", "10", "--seed", seed]);
        (report["executions"].clone(), report["steps"].clone())
    };
    assert_eq!(figures("3"), figures("3"));
}

#[test]
fn what_names_no_operations_is_refused() {
    let desk = Desk::new();
    let source = repository("examples/lost_update.c").display().to_string();
    for words in [
        vec!["generate", source.as_str()],
        vec!["generate", source.as_str(), "--suffixes", "1"],
        vec!["generate", source.as_str(), "--calls", "0"],
        vec!["generate", source.as_str(), "--", "push 1"],
    ] {
        let answer = desk.run(&words);
        assert_eq!(
            (answer.code, answer.stderr.lines().count()),
            (Some(2), 1),
            "{words:?}: {}",
            answer.stderr
        );
    }
}
