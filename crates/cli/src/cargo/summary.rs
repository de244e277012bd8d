//! What a person and a program read about tests.

use std::collections::BTreeMap;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use threadbare_report::{Coverage, JsonReport, TestReport, TestStatus, TestsReport, TextFormat, Verdict};

use super::args::TestArgs;
use super::build::Built;
use super::listing::Test;
use super::trial::{EXECUTIONS, Outcome};
use crate::output::counted;

/// What is about to be done.
pub fn head(tests: &[Test], built: &Built, args: &TestArgs) -> String {
    let doc_tests = if built.has_doc_tests { "; doc tests are left out" } else { "" };
    format!(
        "{} in {}, up to {} or {} s each{doc_tests}\n",
        counted(tests.len(), "test"),
        counted(built.executables.len(), "executable"),
        counted(usize::try_from(args.executions.unwrap_or(EXECUTIONS)).unwrap_or(usize::MAX), "execution"),
        args.time.as_secs_f64()
    )
}

/// One line about a test that has ended.
pub fn line(test: &TestReport, format: &TextFormat) -> String {
    let (word, colour) = match test.status {
        TestStatus::Passed => ("PASS", AnsiColor::Green),
        TestStatus::Failed => ("FAIL", AnsiColor::Red),
        TestStatus::NothingToExplore => ("NONE", AnsiColor::Yellow),
        TestStatus::Ignored => ("SKIP", AnsiColor::Cyan),
        TestStatus::Unable => ("ERROR", AnsiColor::Red),
        TestStatus::Long => ("LONG", AnsiColor::Yellow),
        TestStatus::Interrupted => ("STOP", AnsiColor::Yellow),
    };
    let style = if format.colour { colour.on_default().bold() } else { Style::new() };
    let what = match (test.status, test.executions) {
        (TestStatus::NothingToExplore, _) => ": nothing to explore, it starts no thread".to_string(),
        (TestStatus::Ignored, _) => ": ignored".to_string(),
        (TestStatus::Long, _) => {
            format!(": {}", test.message.as_deref().unwrap_or("no execution came to its end"))
        }
        (TestStatus::Interrupted, 0) => ": interrupted".to_string(),
        (TestStatus::Interrupted, number) => {
            let number = counted(usize::try_from(number).unwrap_or(usize::MAX), "execution");
            format!(": interrupted after {number}")
        }
        (_, 0) => String::new(),
        (_, number) => {
            let all = if test.exhausted { ", exhausted" } else { "" };
            format!(" ({}{all})", counted(usize::try_from(number).unwrap_or(usize::MAX), "execution"))
        }
    };
    let time = format!("[{:>8.3}s]", test.elapsed_s);
    format!("{style}{word:>8}{style:#} {time} {} {}{what}\n", test.executable, test.name)
}

/// What went wrong, at length.
pub fn failures(tests: &[TestReport], format: &TextFormat) -> String {
    let mut text = String::new();
    for test in tests {
        if !matches!(test.status, TestStatus::Failed | TestStatus::Unable) {
            continue;
        }
        let style = if format.colour { Style::new().bold() } else { Style::new() };
        text.push_str(&format!("\n{style}──── {} {}{style:#}\n", test.executable, test.name));
        text.push_str(&test.text);
        // A failure with an interleaving says in the end what it is.
        if let Some(message) = test.message.as_ref().filter(|_| test.failure.is_none()) {
            let what = match (test.status, test.findings.is_empty()) {
                (TestStatus::Unable, _) => "It could not be run",
                (_, false) => "Found",
                (_, true) => "It failed",
            };
            text.push_str(&format!("{what}: {message}\n"));
        }
    }
    text
}

/// How many of what.
pub fn summary(tests: &[TestReport], elapsed: Duration) -> String {
    let count = |status: TestStatus| tests.iter().filter(|test| test.status == status).count();
    let mut parts = vec![
        format!("{} passed", count(TestStatus::Passed)),
        format!("{} failed", count(TestStatus::Failed)),
    ];
    let rest = [
        (TestStatus::NothingToExplore, "with nothing to explore"),
        (TestStatus::Ignored, "ignored"),
        (TestStatus::Unable, "could not be run"),
        (TestStatus::Long, "too long"),
        (TestStatus::Interrupted, "interrupted"),
    ];
    parts.extend(
        rest.iter()
            .filter(|(status, _)| count(*status) > 0)
            .map(|(status, word)| format!("{} {word}", count(*status))),
    );
    let executions: u64 = tests.iter().map(|test| test.executions).sum();
    format!(
        "\nSummary [{:.2} s] {}: {}; {executions} executions\n",
        elapsed.as_secs_f64(),
        counted(tests.len(), "test"),
        parts.join(", ")
    )
}

/// Everything the user should know, once each, with the tests that it is about.
pub fn warnings(outcomes: &[Outcome]) -> Vec<String> {
    let mut tests: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for outcome in outcomes {
        for warning in &outcome.warnings {
            tests.entry(warning).or_default().push(&outcome.report.name);
        }
    }
    tests.into_iter().map(|(warning, names)| format!("{}: {warning}", names.join(", "))).collect()
}

/// The JSON object.
pub fn json(args: &TestArgs, outcomes: &[Outcome], elapsed: Duration) -> TestsReport {
    let tests: Vec<TestReport> = outcomes.iter().map(|outcome| outcome.report.clone()).collect();
    let failures: Vec<_> = tests.iter().filter_map(|test| test.failure.clone()).collect();
    let findings: Vec<_> = tests.iter().flat_map(|test| test.findings.clone()).collect();
    let has = |status: TestStatus| tests.iter().any(|test| test.status == status);
    let executions = tests.iter().map(|test| test.executions).sum();
    let failed_executions = threadbare_report::failed_executions(&failures);
    let report = JsonReport {
        tool: "threadbare",
        version: env!("CARGO_PKG_VERSION"),
        command: "test",
        program: args
            .build
            .manifest_path
            .as_ref()
            .map_or_else(|| "Cargo.toml".to_string(), |path| path.display().to_string()),
        strategy: args.strategy.clone(),
        seed: args.seed,
        verdict: match () {
            () if has(TestStatus::Failed) && failures.is_empty() && !findings.is_empty() => Verdict::Findings,
            () if has(TestStatus::Failed) => Verdict::Failure,
            () => Verdict::nothing_found(has(TestStatus::Interrupted)),
        },
        executions,
        cut: tests.iter().map(|test| test.cut).sum(),
        steps: tests.iter().map(|test| test.steps).sum(),
        threads: tests.iter().map(|test| test.threads).max().unwrap_or(0),
        elapsed_s: JsonReport::seconds(elapsed),
        executions_per_s: JsonReport::rate(executions, elapsed),
        snapshots: 0,
        failure: failures.first().cloned(),
        findings,
        coverage: Coverage::default(),
        exhausted: false,
        memory_model: Default::default(),
        saturated: false,
        interrupted: has(TestStatus::Interrupted),
        failed_executions,
        failures,
        replay: None,
        generated: None,
        suite: None,
        total: None,
        doubts: Vec::new(),
        warnings: warnings(outcomes),
    };
    TestsReport { report, tests }
}
