//! Programs with several bugs, and much beside them that is right: `check` confirms each bug, and accuses nothing else.
//!
//! In the programs of `confirmed/`, each line that has to do with a bug says so by `bug` and its number.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use support::{Desk, repository};

/// The lines of each bug.
fn bugs(program: &Path) -> BTreeMap<u32, Vec<u64>> {
    let text = std::fs::read_to_string(program).expect("readable");
    let mut bugs: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let comment = line.split_once("// bug ").or_else(|| line.split_once("/* bug "));
        let bug = comment.map(|(_, bug)| bug.trim_end_matches("*/").trim().parse().expect("a number"));
        bug.into_iter().for_each(|bug| bugs.entry(bug).or_default().push(number));
    }
    assert!(!bugs.is_empty(), "{}", program.display());
    bugs
}

fn lines(finding: &Value) -> Vec<u64> {
    let sites = finding["sites"].as_array().expect("a list");
    let line = |site: &Value| site.as_str()?.rsplit(':').next()?.parse().ok();
    sites.iter().map(|site| line(site).expect("a line")).collect()
}

/// What is wrong with what `check` says of a program.
fn problems(program: &Path, seed: &str) -> Vec<String> {
    let desk = Desk::new();
    let source = program.display().to_string();
    let sarif = desk.path("report.sarif").display().to_string();
    let args = ["check", &source, "--seed", seed, "--no-minimise", "--json", "-", "--sarif", &sarif];
    let report = desk.run(&args).json();
    let bugs = bugs(program);
    let all = report["findings"].as_array().expect("a list");
    let is_of = |finding: &Value, bug: &[u64]| lines(finding).iter().all(|line| bug.contains(line));
    let innocent = all.iter().filter(|finding| !bugs.values().any(|bug| is_of(finding, bug)));
    let mut problems: Vec<String> = innocent.map(|finding| format!("accused: {finding:#}")).collect();
    for (bug, lines) in &bugs {
        if !all.iter().any(|finding| finding["confirmed"] == true && is_of(finding, lines)) {
            problems.push(format!("bug {bug} is not confirmed in {all:#?}"));
        }
    }
    // An error is what is confirmed, or a failure.
    let sarif: Value = serde_json::from_slice(&std::fs::read(&sarif).expect("readable")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("a list");
    let errors = results.iter().filter(|result| result["level"] == "error").count();
    let confirmed = all.iter().filter(|finding| finding["confirmed"] == true).count();
    let failures = report["failures"].as_array().expect("a list").len();
    if errors != confirmed + failures {
        problems.push(format!("{errors} errors for {confirmed} confirmed findings and {failures} failures"));
    }
    problems.into_iter().map(|problem| format!("{source}, seed {seed}: {problem}")).collect()
}

fn no_problem(program: &str) {
    let program = repository("crates/cli/tests/confirmed").join(program);
    let problems: Vec<String> = ["1", "2"].iter().flat_map(|seed| problems(&program, seed)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn each_of_four_bugs_is_confirmed_and_correct_classes_are_left_alone() {
    no_problem("many_bugs.cpp");
}

#[test]
fn a_race_is_confirmed_beside_an_assertion_that_is_not_its_doing() {
    no_problem("race_and_assertion.c");
}

#[test]
fn a_deadlock_confirms_no_other_cycle() {
    no_problem("cycles.c");
}

#[test]
fn promises_are_left_alone() {
    no_problem("promises.cpp");
}

#[test]
fn a_pool_is_left_alone_when_its_tasks_are_wrong() {
    no_problem("pool.cpp");
}
