//! `cargo threadbare`, on crates that are built as a user's are.

mod support;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use support::{Answer, repository};

fn fixture(name: &str) -> PathBuf {
    repository("crates/cli/tests/fixtures").join(name)
}

/// Runs the command in the folder of a fixture. All tests share what is built.
fn cargo_threadbare(crate_name: &str, args: &[&str]) -> Answer {
    let (command, rest) = args.split_first().expect("a command");
    Command::new(env!("CARGO_BIN_EXE_cargo-threadbare"))
        .args(["threadbare", command])
        .args(["--target-dir", env!("CARGO_TARGET_TMPDIR")])
        .args(rest)
        .current_dir(fixture(crate_name))
        .env_remove("NO_COLOR")
        .output()
        .expect("the tool starts")
        .into()
}

#[test]
fn every_primitive_of_std_is_right_where_it_is_and_wrong_where_it_is_not() {
    let options = ["--executions", "150", "--time", "60", "--no-minimise", "--no-explain", "--json", "-"];
    let answer = cargo_threadbare("std", &[&["test"][..], &options].concat());
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    let report = answer.json();
    let tests = report["tests"].as_array().expect("tests");
    assert!(tests.len() > 50, "{}", tests.len());
    let mut surprises = Vec::new();
    for test in tests {
        let name = test["name"].as_str().expect("a name");
        let expected = match name {
            "alone" => "nothing-to-explore",
            "ignored" => "ignored",
            _ if name.contains("::wrong") => "failed",
            _ => "passed",
        };
        if test["status"] != expected {
            surprises.push(format!("{name} is {}, not {expected}: {}", test["status"], test["message"]));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    // Where only the race is wrong, it is reported with its lines.
    let race = tests.iter().find(|test| test["name"] == "plain_memory::wrong").expect("the test");
    let sites = race["findings"][0]["sites"].as_array().expect("places");
    let schedule = race["findings"][0]["schedule"].as_str().expect("what shows it again is kept");
    let again = Command::new(env!("CARGO_BIN_EXE_threadbare")).args(["replay", "-q", schedule]).output();
    let again = String::from_utf8(again.expect("it runs").stdout).expect("text");
    assert!(again.contains("showed again"), "{again}");
    assert!(
        sites.iter().all(|site| site.as_str().is_some_and(|site| site.starts_with("plain_memory.rs:"))),
        "{race}"
    );
}

#[test]
fn sizes_for_miri_are_taken_when_asked() {
    let steps = |options: &[&str]| {
        let words = ["test", "sizes::right", "--executions", "10", "--no-races", "--json", "-"];
        let answer = cargo_threadbare("std", &[&words[..], options].concat());
        assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
        let test = &answer.json()["tests"][0];
        test["steps"].as_u64().expect("a number") / test["executions"].as_u64().expect("a number")
    };
    let (whole, small) = (steps(&[]), steps(&["--small"]));
    assert!(whole > 2000 && small < 200, "{whole} and {small} steps");
}

#[test]
fn a_panic_is_reported_without_another_one_that_the_test_wants() {
    let found = tempfile::tempdir().expect("a temporary folder");
    let folder = found.path().to_str().expect("text");
    let options =
        ["test", "panics::wrong_besides_a_wanted_one", "--no-explain", "--out", folder, "--json", "-"];
    let answer = cargo_threadbare("std", &options);
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    let report = answer.json();
    let failure = &report["tests"][0]["failure"];
    let message = failure["message"].as_str().expect("a message");
    assert!(message.contains("too late") && !message.contains("as the test wants"), "{message}");
    let warning = report["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("in every interleaving"), "{warning}");
    let schedule = failure["schedule"].as_str().expect("a schedule");
    let again = Command::new(env!("CARGO_BIN_EXE_threadbare")).args(["replay", "-q", schedule]).output();
    let again = Answer::from(again.expect("it runs"));
    assert_eq!(again.code, Some(1), "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("showed again"), "{}", again.stdout);
}

#[test]
fn a_test_that_only_a_busy_machine_fails_does_so_when_asked() {
    let answer = cargo_threadbare("std", &["test", "only_if_delayed", "--executions", "300"]);
    assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
    let options = ["test", "only_if_delayed", "--executions", "300", "--timers", "loose", "--json", "-"];
    let found = tempfile::tempdir().expect("a temporary folder");
    let folder = ["--out", found.path().to_str().expect("text")];
    let answer = cargo_threadbare("std", &[&options[..], &folder].concat());
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    let failure = &answer.json()["tests"][0]["failure"];
    assert_eq!(failure["delay"]["thread"], "T1", "{failure}");
    assert!(failure["delay"]["nanoseconds"].as_u64().is_some_and(|it| it > 90_000_000), "{failure}");
    let schedule = failure["schedule"].as_str().expect("a schedule");
    let again = Command::new(env!("CARGO_BIN_EXE_threadbare")).args(["replay", "-q", schedule]).output();
    assert_eq!(again.expect("it runs").status.code(), Some(1));
}

#[test]
fn a_failing_test_is_shown_with_its_interleaving_and_can_be_replayed() {
    let found = tempfile::tempdir().expect("a temporary folder");
    let junit = found.path().join("junit.xml");
    let (folder, junit_path) = (found.path().to_str().expect("text"), junit.to_str().expect("text"));
    let answer = cargo_threadbare(
        "std",
        &["test", "mutex::wrong", "--no-explain", "--out", folder, "--junit", junit_path, "--", "--exact"],
    );
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    for words in [
        "1 test in 1 executable, up to 1000 executions or 10 s each; doc tests are left out",
        "FAIL [",
        "std-primitives mutex::wrong (",
        "✗ deadlock",
        "Summary [",
        "1 test: 0 passed, 1 failed",
    ] {
        assert!(answer.stdout.contains(words), "{words}:\n{}", answer.stdout);
    }
    let text = std::fs::read_to_string(&junit).expect("written");
    assert!(text.contains(r#"<testcase name="mutex::wrong" classname="std-primitives""#), "{text}");
    let command = answer.stdout.lines().find_map(|line| line.split_once("Again: ")).expect("a command").1;
    let schedule = command.rsplit(' ').next().expect("a schedule");
    let again = Command::new(env!("CARGO_BIN_EXE_cargo-threadbare"))
        .args(["replay", schedule])
        .current_dir(fixture("std"))
        .output();
    let again = Answer::from(again.expect("the tool starts"));
    assert_eq!(again.code, Some(1), "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("✗ deadlock"), "{}", again.stdout);
}

#[test]
fn what_cannot_be_explored_is_no_pass() {
    let alone = cargo_threadbare("std", &["test", "alone"]);
    assert_eq!(alone.code, Some(2), "{}{}", alone.stdout, alone.stderr);
    assert!(alone.stdout.contains("nothing to explore"), "{}", alone.stdout);
    let none = cargo_threadbare("std", &["test", "no_such_test"]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("no test was selected"), "{}", none.stderr);
    let ignored =
        cargo_threadbare("std", &["test", "ignored", "--ignored", "--executions", "5", "--json", "-"]);
    assert_eq!((ignored.code, &ignored.json()["tests"][0]["status"]), (Some(0), &Value::from("passed")));
}

#[test]
fn a_crate_that_does_not_build_shows_what_cargo_says() {
    let answer = cargo_threadbare("broken", &["test"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""));
    assert!(answer.stderr.contains("error[E0308]: mismatched types"), "{}", answer.stderr);
    assert!(answer.stderr.ends_with("threadbare: the crate does not build; fix what cargo says above\n"));
}

#[test]
fn a_binary_of_a_crate_is_hunted_in() {
    let found = tempfile::tempdir().expect("a temporary folder");
    let folder = found.path().to_str().expect("text");
    let hunt = |args: &[&str]| {
        let options = ["hunt", "--bin", "lost_update", "--quiet", "--out", folder, "--"];
        cargo_threadbare("std", &[&options[..], args].concat())
    };
    assert_eq!(hunt(&["1"]).code, Some(0));
    let lost = hunt(&["2"]);
    assert_eq!(lost.code, Some(1), "{}{}", lost.stdout, lost.stderr);
}
