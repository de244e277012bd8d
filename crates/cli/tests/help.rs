//! What the tool says about itself.

mod support;

use support::Desk;

#[test]
fn help_lists_what_works_and_nothing_else() {
    let answer = Desk::new().run(&["--help"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    for word in [
        "hunt",
        "check",
        "suite",
        "verify",
        "compare",
        "report",
        "replay",
        "trace",
        "cc",
        "c++",
        "completions",
        "EXIT STATUS",
        "EXAMPLES",
        "ENVIRONMENT",
    ] {
        assert!(answer.stdout.contains(word), "`{word}` is missing:\n{}", answer.stdout);
    }
}

#[test]
fn every_command_explains_itself() {
    let desk = Desk::new();
    for command in ["hunt", "check", "suite", "compare", "report", "replay", "trace", "completions"] {
        let long = desk.run(&["help", command]);
        let short = desk.run(&[command, "-h"]);
        assert_eq!((long.code, short.code), (Some(0), Some(0)), "{command}");
        assert!(long.stdout.len() >= short.stdout.len(), "{command}");
    }
    let hunt = desk.run(&["hunt", "--help"]).stdout;
    for option in [
        "--strategy",
        "--seed",
        "--executions",
        "--time",
        "--jobs",
        "--max-steps",
        "--keep-going",
        "--json",
        "--sarif",
        "--out",
        "--quiet",
        "--pct-depth",
        "--probability",
        "--preemption-bound",
        "--spurious",
        "--threads",
        "--cflags",
        "--stdin",
        "--any-exit",
        "--stall",
        "EXIT STATUS",
        "STRATEGIES",
    ] {
        assert!(hunt.contains(option), "{option}");
    }
}

#[test]
fn every_help_that_promises_the_strategies_lists_them() {
    let desk = Desk::new();
    let all = desk.run(&["hunt", "none.c", "--strategy", "none"]).stderr;
    let names = all.trim().rsplit("use one of ").next().expect("the names");
    for command in ["hunt", "check"] {
        let help = desk.run(&[command, "--help"]).stdout;
        for name in names.split(", ") {
            assert!(help.contains(&format!(" {name}")), "`{command} --help` does not list `{name}`");
        }
    }
}

#[test]
fn the_version_is_the_packages() {
    let answer = Desk::new().run(&["--version"]);
    assert_eq!(answer.stdout, format!("threadbare {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_are_made_for_each_shell() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let answer = desk.run(&["completions", shell]);
        assert_eq!(answer.code, Some(0), "{shell}");
        assert!(answer.stdout.contains("threadbare") && answer.stdout.contains("replay"), "{shell}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let desk = Desk::new();
    let mut child = desk
        .command(&["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the tool ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}
