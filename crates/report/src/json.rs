//! The JSON object: one per command, fields only ever added.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::coverage::CoverageReport;
use crate::describe::duration;
use crate::suite::SuiteReport;
use crate::verify_json::TotalReport;

/// How memory behaves in executions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryModel {
    /// Each read sees the write before it in the one order of all steps.
    #[default]
    SequentialConsistency,
}

/// What a command concluded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The program went wrong.
    Failure,
    /// The program passed, but something in a trace is suspicious.
    Findings,
    /// Nothing was found within the budget.
    Clean,
    /// Nothing was found, and nothing is left to try.
    Exhausted,
    /// Nothing was found, but the command was interrupted before it could say so.
    Undecided,
}

impl Verdict {
    /// Of a command that found nothing, and has not shown that nothing is left.
    pub fn nothing_found(interrupted: bool) -> Verdict {
        if interrupted { Verdict::Undecided } else { Verdict::Clean }
    }

    /// Of a command that may have found failures and findings.
    pub fn of(has_failures: bool, has_findings: bool, interrupted: bool) -> Verdict {
        match (has_failures, has_findings) {
            (true, _) => Verdict::Failure,
            (false, true) => Verdict::Findings,
            (false, false) => Verdict::nothing_found(interrupted),
        }
    }
}

/// The object written by `--json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JsonReport {
    /// Always `threadbare`.
    pub tool: &'static str,
    /// The version of the tool.
    pub version: &'static str,
    /// The command that wrote it.
    pub command: &'static str,
    /// The program as the user named it.
    pub program: String,
    /// The strategy by name.
    pub strategy: String,
    /// The seed of the campaign.
    pub seed: u64,
    /// What was concluded.
    pub verdict: Verdict,
    /// Runs that ended.
    pub executions: u64,
    /// How many of them were cut at their limit of steps or time: they are no failures, and nothing is known of their end.
    pub cut: u64,
    /// Visible steps in all of them.
    pub steps: u64,
    /// The largest number of threads in one of them, main included.
    pub threads: u32,
    /// Wall-clock time in seconds.
    pub elapsed_s: f64,
    /// Runs a second.
    pub executions_per_s: f64,
    /// Partial runs from snapshots in the middle of executions; they are no executions.
    pub snapshots: u64,
    /// The first failure.
    pub failure: Option<FailureReport>,
    /// Suspicious things that were seen.
    pub findings: Vec<FindingReport>,
    /// How much was covered.
    pub coverage: Coverage,
    /// Whether nothing is left to try.
    pub exhausted: bool,
    /// The memory model that all of this holds under.
    pub memory_model: MemoryModel,
    /// Whether it ended because coverage was saturated.
    pub saturated: bool,
    /// Whether a signal ended the campaign early.
    pub interrupted: bool,
    /// How many executions failed, by kind.
    pub failed_executions: BTreeMap<&'static str, u64>,
    /// All failures, where the campaign was asked to keep going.
    pub failures: Vec<FailureReport>,
    /// How a replay went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayReport>,
    /// The tests that `generate` made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<GeneratedReport>,
    /// What a suite came to.
    #[serde(flatten)]
    pub suite: Option<SuiteReport>,
    /// What `verify` tried out.
    #[serde(flatten)]
    pub total: Option<TotalReport>,
    /// What executions depended on that was not explored, so that nothing is claimed, or what a claim rests on.
    pub doubts: Vec<DoubtReport>,
    /// What the user should know besides; doubts are said here as well.
    pub warnings: Vec<String>,
}

/// Something that executions depended on besides the input and the order of steps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DoubtReport {
    /// Its word, such as `clock` or `weak-order`.
    pub what: &'static str,
    /// The first place that it comes from, as `file.c:12`; null where the source is unknown.
    pub site: Option<String>,
    /// What it means, with all places.
    pub message: String,
}

/// One failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FailureReport {
    /// The failure's word.
    pub kind: &'static str,
    /// What the program or the runtime said.
    pub message: String,
    /// Where, as `file.c:12`; null where the source is unknown.
    pub site: Option<String>,
    /// Which execution it was, counted from 1.
    pub execution: u64,
    /// The schedule file that reproduces it.
    pub schedule: Option<String>,
    /// The policy that found it.
    pub policy: String,
    /// The hash of the trace, equal for equal executions.
    pub trace_hash: String,
    /// How many executions of the campaign failed in this way.
    pub count: u64,
    /// Whether a second run of the same schedule failed in the same way.
    pub reproduced: bool,
    /// The memory-access pattern that separates it from passing executions, in one sentence.
    pub cause: Option<String>,
    /// The same as a finding: what it is about, and where.
    pub cause_finding: Option<FindingReport>,
    /// Preemptions: switches away from a thread that was runnable.
    pub preemptions: u64,
    /// Whether none of them can be left out without losing the failure.
    pub minimal: bool,
    /// The trace file that shows it.
    pub trace: Option<String>,
    /// How many events the execution had before its schedule was made shorter, if its trace was too long to be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_events: Option<u64>,
    /// The thread that has to be delayed for it, where sleeps and waits could end by time at any point.
    pub delay: Option<DelayReport>,
    /// The inputs of a suite that show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
}

/// A thread was runnable and not scheduled while another one slept or waited for a time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DelayReport {
    /// The thread that was delayed.
    pub thread: String,
    /// By more than so many nanoseconds.
    pub nanoseconds: u64,
    /// Before which place; null where the source is unknown.
    pub site: Option<String>,
}

impl DelayReport {
    /// What it means, in one sentence.
    pub fn sentence(&self) -> String {
        let site = self.site.as_ref().map_or_else(String::new, |site| format!(" before {site}"));
        format!(
            "This happens only if {} is delayed by more than {}{site}: a sleep or a wait of another thread ends \
             meanwhile, as it would on a busy machine. With --timers ordered it is not tried.",
            self.thread,
            duration(self.nanoseconds)
        )
    }
}

/// How many executions failed in each way.
pub fn failed_executions(failures: &[FailureReport]) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for failure in failures {
        *counts.entry(failure.kind).or_default() += failure.count;
    }
    counts
}

/// Something suspicious in a trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FindingReport {
    /// `race`, `atomicity`, `order`, `deadlock` or `lock-discipline`.
    pub kind: &'static str,
    /// The object concerned.
    pub object: String,
    /// The places concerned.
    pub sites: Vec<String>,
    /// The number of the memory-access pattern.
    pub pattern: Option<u32>,
    /// Whether it is a fault beyond doubt: a race whose accesses were enabled at the same time, a deadlock that happened, an order with
    /// which the program fails and without which it does not.
    pub confirmed: bool,
    /// Whether a run showed it.
    pub seen: bool,
    /// What happens, in one sentence.
    pub message: String,
    /// The schedule file of that run.
    pub schedule: Option<String>,
    /// How often it was found.
    pub count: u64,
    /// The inputs of a suite that show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
}

/// How much was covered; null for what was not measured.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Coverage {
    /// Synchronization pairs.
    pub sp: Option<CoverageReport>,
    /// Memory-access patterns.
    pub map: Option<CoverageReport>,
    /// Concurrent function pairs.
    pub cfp: Option<Value>,
    /// Race-equivalent groups.
    pub groups: Option<Value>,
    /// Other criteria that were asked for, by name.
    #[serde(flatten)]
    pub others: BTreeMap<&'static str, CoverageReport>,
}

/// The tests that were made for an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GeneratedReport {
    /// How many there were.
    pub made: u64,
    /// Those that covered what none before had covered.
    pub kept: Vec<String>,
    /// How many failed without any thread, and were left out.
    pub skipped: u64,
    /// The one that failed, as short as it was made.
    pub failing: Option<String>,
    /// The file that has it as a program of its own.
    pub source: Option<String>,
}

/// How a replay went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ReplayReport {
    /// How often the schedule was run.
    pub times: u64,
    /// How often it failed as it did when it was found.
    pub reproduced: u64,
    /// The first switch that could not be followed, counted from 1.
    pub diverged_at: Option<u64>,
    /// What happened instead.
    pub divergence: Option<String>,
    /// The hash of the trace of the first run.
    pub trace_hash: String,
}

impl JsonReport {
    /// The text of the file, ending in a newline.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// A time in seconds, rounded to microseconds.
    pub fn seconds(time: std::time::Duration) -> f64 {
        (time.as_secs_f64() * 1e6).round() / 1e6
    }

    /// Runs a second, rounded to a tenth; 0 where no time passed.
    pub fn rate(executions: u64, time: std::time::Duration) -> f64 {
        if time.is_zero() { 0.0 } else { (executions as f64 / time.as_secs_f64() * 10.0).round() / 10.0 }
    }
}
