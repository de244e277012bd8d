//! What `cargo threadbare test` says of tests that fail.

mod support;

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Write as _, copy, sink};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{Answer, repository};

/// The command in the folder of the crate. All tests share what is built.
fn command(args: &[&str]) -> Command {
    let (subcommand, rest) = args.split_first().expect("a command");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-threadbare"));
    command
        .args(["threadbare", subcommand])
        .args(["--target-dir", env!("CARGO_TARGET_TMPDIR")])
        .args(rest)
        .current_dir(repository("crates/cli/tests/fixtures/words"))
        .env_remove("NO_COLOR");
    command
}

fn cargo_threadbare(args: &[&str]) -> Answer {
    command(args).output().expect("the tool starts").into()
}

/// The tests of a JSON report by their names.
fn tests(report: &Value) -> HashMap<&str, &Value> {
    let all = report["tests"].as_array().expect("tests");
    all.iter().map(|test| (test["name"].as_str().expect("a name"), test)).collect()
}

#[test]
fn every_failure_is_reported_as_what_it_is() {
    let found = tempfile::tempdir().expect("a temporary folder");
    let junit = found.path().join("junit.xml");
    let paths = [found.path(), &junit].map(|path| path.to_str().expect("text"));
    let files = ["--out", paths[0], "--junit", paths[1], "--json", "-", "--time", "60"];
    let answer = cargo_threadbare(&[&["test"][..], &files].concat());
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    let report = answer.json();
    let tests = tests(&report);
    let early = "an early exit: the test ended the process with exit status 0 before it had a result";
    let expected = [
        ("ends::exits_in_another_thread", "exit", Some("ends.rs:11"), "a non-zero exit status: "),
        ("ends::exits_well_in_another_thread", "exit", Some("ends.rs:68"), early),
        ("ends::exits_well_in_process", "exit", Some("ends.rs:79"), early),
        ("ends::exits_well_alone", "exit", None, early),
        ("ends::aborts", "abort", Some("ends.rs:20"), "an abort: the program called abort"),
        ("ends::overflows", "segfault", Some("ends.rs:31"), "a stack overflow: stack overflow: the thread"),
        ("ends::returns_an_error", "exit", None, "Error: \"a vote is lost\""),
        ("ends::returns_an_error_in_process", "exit", None, "Error: \"a vote is lost\""),
        (
            "panics::should_panic",
            "exit",
            Some("panics.rs:11"),
            "test did not panic as expected at src/panics.rs",
        ),
        ("panics::should_panic_otherwise", "exit", Some("panics.rs:20"), "expected substring: \"both\""),
        ("panics::panics_and_leaves_others_waiting", "deadlock", Some("panics.rs:33"), "came too late"),
        ("panics::nobody_joins", "exit", Some("panics.rs:56"), "came too late"),
        ("panics::panics_twice", "abort", Some("panics.rs:105"), "at first\nthread '<unnamed>' panicked at"),
        ("panics::meets_a_poisoned_lock", "exit", Some("panics.rs:119"), "\nexpected, and joined"),
    ];
    let mut surprises = Vec::new();
    for (name, kind, site, words) in expected {
        let (test, failure) = (tests[name], &tests[name]["failure"]);
        let message = test["message"].as_str().unwrap_or_default();
        if failure["kind"] != kind || failure["site"].as_str() != site || !message.contains(words) {
            surprises.push(format!("{name}: {test:#}"));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    let right = [
        "ends::returns_nothing_bad",
        "panics::somebody_looks",
        "panics::leaves_something_behind",
        "panics::catches_it_itself",
        "panics::catches_it_itself_in_process",
    ];
    for right in right {
        assert_eq!(tests[right]["status"], "passed", "{right}: {:#}", tests[right]);
    }
    // It was found where the closure is repeated, not only afterwards.
    let policy = tests["panics::nobody_joins"]["failure"]["policy"].as_str().expect("a policy");
    assert!(policy.contains("in process"), "{policy}");
    let alone = tests["ends::fails_alone"]["message"].as_str().expect("a message");
    assert!(
        alone.contains("src/ends.rs:56:5\nassertion `left == right` failed: wrong from the start"),
        "{alone}"
    );
    let warnings = report["warnings"].as_array().expect("warnings");
    assert!(
        warnings
            .iter()
            .any(|it| it.as_str().is_some_and(|it| it.starts_with("panics::leaves_something_behind: "))),
        "{warnings:?}"
    );
    let text = std::fs::read_to_string(&junit).expect("written");
    for noise in ["running 1 test", "test result:"] {
        assert!(!answer.stdout.contains(noise) && !text.contains(noise), "{noise}");
    }
}

#[test]
fn a_person_reads_who_did_it_and_where() {
    let found = tempfile::tempdir().expect("a temporary folder");
    let folder = found.path().to_str().expect("text");
    let report = |name: &str| cargo_threadbare(&["test", name, "--out", folder, "--", "--exact"]).stdout;
    let parts = [
        ("ends::exits_in_another_thread", &["✗ exit in T1 at ends.rs:11", "in words::ends::leave "][..]),
        ("ends::aborts", &["✗ abort in T1 at ends.rs:20", "in words::ends::give_up "]),
        ("ends::overflows", &["in words::ends::deep ", "ends.rs:33, ", " times\n"]),
        (
            "panics::panics_and_leaves_others_waiting",
            &[
                "panicked at src/panics.rs:29:9\n  assertion `left == right` failed: came too late",
                "afterwards: deadlock: no thread is runnable\n",
                "Found a deadlock after a panic at panics.rs:33",
            ],
        ),
        (
            "ends::returns_an_error",
            &["✗ failed in T0\n  the test returned an error\n  Error: \"a vote is lost\"\n"],
        ),
        ("panics::nobody_joins", &["✗ panicked in T1 at panics.rs:56"]),
    ];
    for (name, parts) in parts {
        let text = report(name);
        for part in parts {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }
}

#[test]
fn the_cause_is_what_the_program_does_and_not_what_its_library_does_for_it() {
    let found = tempfile::tempdir().expect("a temporary folder");
    let folder = found.path().to_str().expect("text");
    for name in ["panics::announces_too_early", "panics::nobody_joins", "ends::aborts"] {
        let answer = cargo_threadbare(&["test", name, "--out", folder, "--json", "-", "--", "--exact"]);
        let report = answer.json();
        let cause = report["failure"]["cause"].as_str().unwrap_or_default().to_string();
        assert!(!cause.is_empty(), "{name}: {report:#}");
        for inside in [".poison", ".strong", ".weak", "freed"] {
            assert!(!cause.contains(inside), "{name}: {cause}");
        }
    }
}

/// Interrupts the tool once a test has said so much through its pipe; returns the report. The test is allowed to continue so often.
fn interrupted(test: &str, executions: &str, said: usize, continued: usize) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [pipe, go] = ["pipe", "go"].map(|name| folder.path().join(name));
    assert!(Command::new("mkfifo").args([&pipe, &go]).status().expect("mkfifo").success());
    let mut going = File::options().read(true).write(true).open(&go).expect("a pipe");
    going.write_all(&vec![b'.'; continued]).expect("it takes a few words");
    let out = folder.path().to_str().expect("text");
    let budget = ["--executions", executions, "--time", "1000000", "--json", "-", "--out", out];
    let tool = command(&[&["test", test][..], &budget, &["--", "--exact"]].concat())
        .env("WORDS_PIPE", &pipe)
        .env("WORDS_GO", &go)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool starts");
    let mut words = File::open(&pipe).expect("the test opens it as well");
    for _ in 0..said {
        // Each start of the test opens the pipe anew.
        while words.read(&mut [0]).expect("readable") == 0 {
            words = File::open(&pipe).expect("the test opens it as well");
        }
    }
    let id = tool.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    copy(&mut words, &mut sink()).expect("whatever else it says");
    let answer = Answer::from(tool.wait_with_output().expect("it ends"));
    (answer.code, answer.json())
}

/// Nothing but an interruption ends so many.
const COUNTLESS: &str = "1000000000";

#[test]
fn an_interrupted_test_has_not_passed() {
    let (code, report) = interrupted("interrupted::says_that_it_begins", COUNTLESS, 1, 0);
    assert_eq!((code, &report["tests"][0]["status"]), (Some(2), &Value::from("interrupted")), "{report:#}");
}

#[test]
fn a_test_that_is_not_examined_for_races_any_more_has_not_passed() {
    // It is started to see whether it offers a closure, to be hunted in, and to be examined.
    let (code, report) = interrupted("interrupted::waits_for_a_word", "20", 3, 2);
    assert_eq!((code, &report["tests"][0]["status"]), (Some(2), &Value::from("interrupted")), "{report:#}");
    assert_eq!(report["executions"], 20, "{report:#}");
}

#[test]
fn what_was_repeated_before_an_interruption_is_counted() {
    // The second call begins when the first one has passed.
    let (code, report) = interrupted("interrupted::says_that_it_is_called", COUNTLESS, 2, 0);
    assert_eq!((code, &report["tests"][0]["status"]), (Some(2), &Value::from("interrupted")), "{report:#}");
    assert!(report["executions"].as_u64() >= Some(1), "{report:#}");
}

#[test]
fn a_name_that_is_not_there_is_no_fault_of_the_crate() {
    for (args, words) in [
        (
            &["test", "--test", "nosuch"][..],
            "`--test nosuch` names nothing that the crate has: there is none\n",
        ),
        (&["hunt", "--bin", "nosuch"], "`--bin nosuch` names nothing that the crate has: there is none\n"),
    ] {
        let answer = cargo_threadbare(args);
        assert_eq!(answer.code, Some(2));
        assert!(answer.stderr.ends_with(words), "{}", answer.stderr);
    }
}

#[test]
fn a_test_that_hangs_alone_is_given_up_as_early_as_any() {
    let answer = cargo_threadbare(&["test", "hangs_alone", "--ignored", "--stall", "1", "--json", "-"]);
    assert_eq!(answer.code, Some(2), "{}{}", answer.stdout, answer.stderr);
    let report = answer.json();
    assert_eq!(report["tests"][0]["status"], "long", "a test that takes its time is no error: {report:#}");
    let message = report["tests"][0]["message"].as_str().expect("a message");
    assert!(message.starts_with("it started no thread within 1 s"), "{message}");
}

#[test]
fn a_race_is_reported_with_its_command_even_if_little_is_printed() {
    let found = tempfile::tempdir().expect("a temporary folder");
    let folder = found.path().to_str().expect("text");
    let mut command = command(&["test", "plain_memory::wrong", "-q", "--out", folder]);
    let output = command.current_dir(repository("crates/cli/tests/fixtures/std")).output();
    let answer = Answer::from(output.expect("the tool starts"));
    let again = answer.stdout.lines().find_map(|line| line.strip_prefix("Again: threadbare replay "));
    assert!(again.is_some_and(|schedule| Path::new(schedule).exists()), "{}", answer.stdout);
}

#[test]
fn closures_are_explored_as_they_wish_and_reported_by_their_own_lines() {
    let explored = |options: &[&str]| {
        let answer =
            cargo_threadbare(&[&["test", "closures::", "--json", "-", "--time", "60"], options].concat());
        assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
        answer.json()
    };
    let report = explored(&[]);
    let all = tests(&report);
    let status = |name: &str| all[format!("closures::{name}").as_str()]["status"].as_str();
    assert_eq!(status("right_with_a_static_that_is_made_when_needed"), Some("passed"), "{report:#}");
    assert_eq!(status("right_unless_woken_for_nothing"), Some("passed"), "{report:#}");
    let wish = all["closures::right_with_a_wish"]["executions"].as_u64();
    assert!(wish.is_some_and(|made| made < 100), "{wish:?}");
    let wrong = all["closures::wrong_in_a_line_of_its_own"];
    assert_eq!(wrong["failure"]["site"], "closures.rs:31", "{wrong:#}");
    let report = explored(&["--spurious"]);
    let woken = tests(&report)["closures::right_unless_woken_for_nothing"];
    assert_eq!(woken["status"], "failed", "{report:#}");
}
