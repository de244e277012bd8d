//! A compiler whose standard library is not known: nothing is claimed of what could not be explored, and the user is warned.

mod support;

use std::os::unix::fs::PermissionsExt as _;

use support::{Answer, Desk};

/// Two threads that share a lock: few interleavings, all of which pass.
const PROGRAM: &str = "
use std::sync::{Arc, Mutex};
fn main() {
    let shared = Arc::new(Mutex::new(0));
    let other = Arc::clone(&shared);
    let thread = std::thread::spawn(move || *other.lock().unwrap() += 1);
    *shared.lock().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(*shared.lock().unwrap(), 2);
}
";

/// An archive without members.
const EMPTY_ARCHIVE: &str = "!<arch>\n";

/// A compiler that works as the real one does, and has another version and an empty library to show.
const COMPILER: &str = r#"#!/bin/sh
case "$*" in
    *--version*) echo "rustc 9.99.0 (unheard of)" ;;
    *target-libdir*) echo "FOLDER" ;;
    *) exec rustc "$@" ;;
esac
"#;

/// Runs the tool on the program, built by a compiler that is known or not.
fn run(args: &[&str], known: bool) -> Answer {
    let desk = Desk::new();
    desk.file("program.rs", PROGRAM);
    desk.file("libstd-0123.rlib", EMPTY_ARCHIVE);
    let folder = desk.path("");
    let compiler = desk.file("compiler", COMPILER.replace("FOLDER", folder.to_str().expect("text")));
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    let mut command = desk.command(&[args, &["program.rs"]].concat());
    if !known {
        command.env("RUSTC", &compiler);
    }
    command.output().expect("the tool starts").into()
}

#[track_caller]
fn assert_claims_nothing(args: &[&str]) {
    let unknown = run(args, false);
    assert_eq!(unknown.code, Some(0), "{}{}", unknown.stdout, unknown.stderr);
    let report = unknown.json();
    assert_eq!((&report["exhausted"], &report["verdict"]), (&false.into(), &"clean".into()), "{report}");
    let warnings = report["warnings"].to_string();
    for word in ["rustc 9.99.0 (unheard of)", "Mutex::lock", "Condvar::wait", "thread::park"] {
        assert!(warnings.contains(word), "{word}: {warnings}");
    }
    assert!(unknown.stderr.contains("rustc 9.99.0 (unheard of)"), "{}", unknown.stderr);
}

#[test]
fn a_hunt_says_that_the_library_is_unknown_and_does_not_claim_every_interleaving() {
    let args = ["hunt", "--strategy", "dfs", "--preemption-bound", "0", "--json", "-"];
    let known = run(&args, true);
    assert_eq!(known.json()["exhausted"], true, "{}{}", known.stdout, known.stderr);
    let warnings = known.json()["warnings"].as_array().expect("a list").clone();
    let is_about_orders = |it: &serde_json::Value| it.to_string().contains("under sequential consistency");
    assert!(warnings.iter().all(is_about_orders), "{}", known.stdout);
    assert_claims_nothing(&args);
}

#[test]
fn a_verification_with_an_unknown_library_is_none() {
    assert_claims_nothing(&["verify", "--json", "-"]);
}
