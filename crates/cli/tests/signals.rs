//! A bug that needs a signal between two instructions is found by all kinds of strategies, replays, becomes
//! minimal, and is reported as what it is.

mod support;

use support::{Desk, repository};

/// Not `mcr`: executions do not follow what it works out for handlers.
const STRATEGIES: [&str; 9] = ["random", "pct", "pos", "surw", "ars", "pcr", "tsa", "dfs", "map-random"];
const FAULTY: [&str; 3] = ["half_record", "lock_in_handler", "late_timeout"];

fn subject(name: &str) -> String {
    repository("subjects/signals").join(name).join(format!("{name}.c")).display().to_string()
}

#[test]
fn every_strategy_delivers_the_signal_where_it_hurts_and_replays_it() {
    for name in FAULTY {
        let desk = Desk::new();
        for strategy in STRATEGIES {
            let source = subject(name);
            let mut args = vec!["hunt", &source, "--strategy", strategy, "--executions", "500"];
            args.extend(["--jobs", "1", "--seed", "1", "--no-minimise", "--json", "-"]);
            let answer = desk.run(&args);
            assert_eq!(answer.code, Some(1), "{strategy} on {name}: {}{}", answer.stdout, answer.stderr);
            let report = answer.json();
            let schedule = report["failure"]["schedule"].as_str().expect("a schedule");
            let replay = desk.run(&["replay", schedule, "--times", "10", "--json", "-"]);
            assert_eq!(replay.json()["replay"]["reproduced"], 10, "{strategy} on {name}: {}", replay.stderr);
        }
    }
}

#[test]
fn a_signal_between_two_writes_is_one_preemption_and_reported_as_an_interrupt() {
    let desk = Desk::new();
    let answer = desk.run(&["hunt", &subject("half_record"), "--jobs", "1", "--seed", "1"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    for part in ["send SIGALRM (T1)", "SIGALRM interrupts T0", "T1 on_alarm", "with one preemption"] {
        assert!(answer.stdout.contains(part), "`{part}` is missing in\n{}", answer.stdout);
    }
}

#[test]
fn a_race_with_a_handler_is_worded_for_signals() {
    let desk = Desk::new();
    let answer = desk.run(&["check", &subject("half_record"), "--jobs", "1", "--seed", "1"]);
    assert!(
        answer.stdout.contains("race on window.height with the handler of SIGALRM")
            && answer.stdout.contains("without blocking SIGALRM"),
        "{}",
        answer.stdout
    );
}

#[test]
fn all_orders_of_a_masked_handler_pass() {
    let desk = Desk::new();
    let source = subject("half_record_masked");
    let answer = desk.run(&["hunt", &source, "--strategy", "dfs", "--jobs", "1", "--json", "-"]);
    assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
    assert_eq!(answer.json()["exhausted"], true);
}
