//! What is said of a Rust program that panics.

mod support;

use support::Desk;

/// The checker has to come first, and nothing makes it.
const CHECKER: &str = r#"
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let n = Arc::new(Mutex::new(0));
    let (a, b) = (n.clone(), n.clone());
    let checker = thread::Builder::new().name("checker".into()).spawn(move || {
        let seen = *a.lock().unwrap();
        assert!(seen == 0, "came too late: {seen}");
    });
    let adder = thread::spawn(move || *b.lock().unwrap() += 1);
    adder.join().unwrap();
    checker.unwrap().join().expect("the checker ends well");
}
"#;

#[test]
fn a_panic_is_reported_with_its_message_its_place_and_its_thread() {
    let desk = Desk::new();
    desk.file("checker.rs", CHECKER);
    let answer = desk.run(&["hunt", "checker.rs", "--json", "hunt.json"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(desk.path("hunt.json")).expect("written")).expect("JSON");
    let failure = &report["failure"];
    assert_eq!((&failure["kind"], &failure["site"]), (&"exit".into(), &"checker.rs:10".into()));
    let message = failure["message"].as_str().expect("a text");
    assert!(
        message.starts_with("thread 'checker' panicked at ") && message.contains("came too late: 1"),
        "{message}"
    );
    // The reader sees the checker's panic, not main's, which only passes it on.
    for words in ["✗ panicked in T1 at checker.rs:10", "Found a panic at checker.rs:10"] {
        assert!(answer.stdout.contains(words), "{words}:\n{}", answer.stdout);
    }
}
