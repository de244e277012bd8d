//! `check` names the bug of every subject at the lines that its `subject.toml` gives, and finds nothing in a
//! correct one. The lines come from reading the programs.

mod support;

use std::path::Path;

use support::Desk;
use support::reported::{reported, without_numbers};
use support::subject::{Expected, Subject, two_at_a_time};

/// Executions that are examined, as by default.
const EXECUTIONS: &str = "100";

fn check(folder: &Path, subject: &Subject) -> Result<(), String> {
    let desk = Desk::new();
    let source = folder.join(&subject.source).display().to_string();
    // Making failures shorter takes most of the time, and has tests of its own.
    let mut args = vec!["check", &source, "--seed", "1", "--executions", EXECUTIONS, "--no-minimise"];
    args.extend(["--json", "-"]);
    if !subject.args.is_empty() {
        args.push("--");
        args.extend(subject.args.iter().map(String::as_str));
    }
    let answer = desk.run(&args);
    if !matches!(answer.code, Some(0 | 1)) {
        return Err(answer.stderr);
    }
    let report = answer.json();
    let all = reported(&report);
    if subject.expect == "pass" && subject.findings.is_empty() {
        return if report["verdict"] == "clean" && all.is_empty() { Ok(()) } else { Err(format!("{all:?}")) };
    }
    let missing: Vec<&Expected> =
        subject.findings.iter().filter(|expected| !all.iter().any(|one| one.is(expected))).collect();
    match (subject.findings.is_empty(), missing.is_empty()) {
        (true, _) => Err("its subject.toml names no finding".into()),
        (_, true) => Ok(()),
        (_, false) => Err(format!("no {missing:?} in {all:#?}")),
    }
}

#[test]
fn every_bug_is_named_at_its_lines_and_correct_programs_have_no_finding() {
    let subjects = Subject::all();
    let results = two_at_a_time(&subjects, check);
    let problems: Vec<String> = (subjects.iter().zip(results))
        .filter_map(|((_, subject), result)| result.err().map(|why| format!("{}: {why}", subject.name)))
        .collect();
    let (wrong, all) = (problems.len(), subjects.len());
    assert!(problems.is_empty(), "{wrong} of {all} subjects:\n{}", problems.join("\n"));
}

#[test]
fn objects_are_compared_without_numbers() {
    for (reported, expected) in [
        ("cells[3]", "cells[]"),
        ("accounts[1].lock", "accounts[].lock"),
        ("node (heap, list.c:22 T1#2).next", "node.next"),
        ("heap log4j.c:26 T3#1", "heap log4j.c:26"),
        ("first.count", "first.count"),
    ] {
        assert_eq!(without_numbers(reported), expected);
    }
}
