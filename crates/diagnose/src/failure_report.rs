//! A failed run as the JSON object describes it.

use threadbare_report::{DelayReport, FailureReport, Names, failure_site, name_addresses};
use threadbare_target::{Execution, Symbols, stable_hash, test_output};
use threadbare_trace::FailureKind;

/// A failed run in the words of the JSON object; none for one that passed.
pub fn describe_failure(run: &Execution, names: &dyn Names, symbols: &Symbols) -> Option<FailureReport> {
    let SaidOfFailure { kind, message, site } = said_of_failure(run, names)?;
    Some(FailureReport {
        kind: kind.word(),
        message,
        site,
        execution: 1,
        schedule: None,
        policy: "replay".into(),
        trace_hash: trace_hash(run, symbols),
        count: 1,
        reproduced: true,
        minimal: false,
        preemptions: 0,
        trace: None,
        inputs: Vec::new(),
        cause: None,
        cause_finding: None,
        original_events: None,
        delay: run.delay.map(|delay| DelayReport {
            thread: delay.thread.to_string(),
            nanoseconds: delay.nanoseconds,
            site: names.place(delay.site, 0).map(|place| place.to_string()),
        }),
    })
}

/// What is said of a failed run.
pub struct SaidOfFailure {
    /// What went wrong.
    pub kind: FailureKind,
    /// What the program or the runtime says.
    pub message: String,
    /// Where.
    pub site: Option<String>,
}

/// What is said of a failed run, which takes no time however long the run is; none of one that passed.
pub fn said_of_failure(run: &Execution, names: &dyn Names) -> Option<SaidOfFailure> {
    let failure = run.outcome.failure()?;
    let mut message = name_addresses(&failure.message, names);
    // Who calls `abort` says why beforehand.
    if failure.kind == FailureKind::Abort && !message.contains('\n') {
        last_lines(&run.output).iter().for_each(|line| message.push_str(&format!("\n{line}")));
    }
    let site = failure_site(failure, names).map(|site| site.to_string());
    Some(SaidOfFailure { kind: failure.kind, message, site })
}

/// The end of what a program printed.
fn last_lines(output: &[u8]) -> Vec<String> {
    const MOST_LINES: usize = 10;
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = test_output(&text).lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(MOST_LINES)..].iter().map(|line| line.to_string()).collect()
}

/// The hash of a run's trace, as it is written everywhere.
pub fn trace_hash(run: &Execution, symbols: &Symbols) -> String {
    format!("{:016x}", stable_hash(run, symbols))
}
