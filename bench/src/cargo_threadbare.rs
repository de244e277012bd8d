//! `cargo threadbare test`, run as a user would, and what it says.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Result;

/// How much a test may take.
pub struct Budget {
    /// The most executions of a test.
    pub executions: u64,
    /// The most seconds for a test.
    pub time: u64,
    /// The seed.
    pub seed: u64,
}

#[derive(Deserialize)]
struct Report {
    tests: Vec<Test>,
}

/// What came of one test.
#[derive(Deserialize)]
pub struct Test {
    /// Package and target, as `queue::stress`.
    pub executable: String,
    /// Its name in there.
    pub name: String,
    /// What became of it, in a word.
    pub status: String,
    /// How many executions were made.
    pub executions: u64,
    /// How long that took.
    pub elapsed_s: f64,
    /// The failure, if an interleaving fails.
    pub failure: Option<Failure>,
    /// Why it failed or could not be run.
    pub message: Option<String>,
}

/// How an interleaving fails.
#[derive(Deserialize)]
pub struct Failure {
    /// Its kind, as in the field `kind` of JSON.
    pub kind: String,
}

impl Test {
    /// How it ended, in a word or two.
    pub fn end(&self) -> String {
        let kind = self.failure.as_ref().map(|failure| failure.kind.as_str());
        let message = self.message.as_deref().and_then(|message| message.lines().next());
        match (self.status.as_str(), kind) {
            ("failed", Some(kind)) => kind.to_string(),
            ("failed", None) => message.unwrap_or("failed").to_string(),
            (status, _) => status.to_string(),
        }
    }
}

/// Runs the tests of a crate. The tool lies beside this program, or else in the search path.
pub fn test(manifest: &Path, target: &Path, budget: &Budget, more: &[String]) -> Result<Vec<Test>> {
    let beside = std::env::current_exe()?.with_file_name("cargo-threadbare");
    let tool = if beside.exists() { beside } else { "cargo-threadbare".into() };
    let output = Command::new(&tool)
        .args(["test", "--json", "-", "--no-explain", "--no-minimise", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .args(["--executions", &budget.executions.to_string()])
        .args(["--time", &budget.time.to_string(), "--seed", &budget.seed.to_string()])
        .args(more)
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("{}: {error}; build it with `cargo build --release`", tool.display()))?;
    let report: Report = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!("{}: {error}\n{}", manifest.display(), String::from_utf8_lossy(&output.stderr))
    })?;
    Ok(report.tests)
}
