//! What is said of the tests of a crate.

use serde::Serialize;

use crate::json::{FailureReport, FindingReport, JsonReport};

/// What became of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    /// No execution failed.
    Passed,
    /// An execution failed, or had a data race.
    Failed,
    /// It starts no thread of its own, and passed.
    NothingToExplore,
    /// It is marked as one that is not to be run.
    Ignored,
    /// It could not be run under control.
    Unable,
    /// Every execution was cut at its limit of steps or time.
    Long,
    /// The user ended it.
    Interrupted,
}

/// One test.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TestReport {
    /// The executable, named by package and target.
    pub executable: String,
    /// The test's name in it.
    pub name: String,
    /// What became of it.
    pub status: TestStatus,
    /// Runs that ended.
    pub executions: u64,
    /// How many of them were cut at their limit of steps or time.
    pub cut: u64,
    /// Visible steps in all of them.
    pub steps: u64,
    /// The largest number of threads in one of them, main included.
    pub threads: u32,
    /// Wall-clock time in seconds.
    pub elapsed_s: f64,
    /// Whether nothing is left to try.
    pub exhausted: bool,
    /// The failure, if it has to do with interleavings.
    pub failure: Option<FailureReport>,
    /// Data races.
    pub findings: Vec<FindingReport>,
    /// Why it failed or could not be run, in a few words.
    pub message: Option<String>,
    /// The same at length, as a person reads it.
    #[serde(skip)]
    pub text: String,
}

/// The object written by `cargo threadbare test --json`: that of all commands, and the tests.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TestsReport {
    /// All tests together.
    #[serde(flatten)]
    pub report: JsonReport,
    /// One by one.
    pub tests: Vec<TestReport>,
}

impl TestsReport {
    /// The text of the file, ending in a newline.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}
