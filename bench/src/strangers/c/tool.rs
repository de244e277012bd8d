//! `threadbare`, run as a user would.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::judgements::Way;
use crate::Result;
use crate::cargo_threadbare::Budget;

/// The tool that lies beside this program, or else in the search path.
pub struct Tool(PathBuf);

#[derive(Deserialize)]
struct Report {
    failure: Option<Failure>,
    #[serde(default)]
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Failure {
    kind: String,
    message: String,
    site: Option<String>,
    /// It needs a thread to be delayed for longer than another one sleeps.
    delay: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Finding {
    kind: String,
    confirmed: bool,
    message: String,
}

impl Tool {
    /// Finds it.
    pub fn beside() -> Result<Tool> {
        let beside = std::env::current_exe()?.with_file_name("threadbare");
        Ok(Tool(if beside.exists() { beside } else { "threadbare".into() }))
    }

    /// `threadbare cc` or `threadbare c++`, as a variable of build scripts has it.
    pub fn compiler(&self, which: &str) -> String {
        format!("{} {which}", self.0.display())
    }

    /// The same as a command.
    pub fn compile(&self, which: &str) -> Command {
        let mut command = Command::new(&self.0);
        command.arg(which);
        command
    }

    /// Hunts or checks in a folder; says how that ended, and what was said of it.
    pub fn run(
        &self,
        verb: &str,
        program: &Path,
        arguments: &[String],
        folder: &Path,
        budget: &Budget,
        more: &[&str],
    ) -> Result<(Way, String)> {
        let output = Command::new(&self.0)
            .args([verb, "--json", "-", "--no-minimise", "--explain-time", "1", "--stall", "5"])
            .args(["--executions", &budget.executions.to_string()])
            .args(["--time", &budget.time.to_string(), "--seed", &budget.seed.to_string()])
            .args(more)
            .arg(program)
            .arg("--")
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                format!("{}: {error}; build it with `cargo build --release`", self.0.display())
            })?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() == Some(2) {
            let says = |text: &str| said.contains(text);
            let way = if says("without starting a second thread") {
                Way::NoThread
            } else if says("does not control") || says("cannot be controlled") {
                Way::Refused
            } else if says("were cut") {
                Way::Cut
            } else {
                // It fails before there is anything to explore, or the tool does not know what to do with it.
                Way::Failed("nothing explored".to_string())
            };
            return Ok((way, said.lines().last().unwrap_or_default().to_string()));
        }
        let report: Report = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{}: {error}\n{said}", program.display()))?;
        if let Some(Failure { kind, message, site, delay }) = report.failure {
            let kind = if delay.is_some() { format!("delayed {kind}") } else { kind };
            let message = format!("{message} ({})", site.unwrap_or_default());
            return Ok((Way::Failed(kind), message));
        }
        let shown = |it: &Finding| {
            let state = if it.confirmed { "confirmed" } else { "not confirmed" };
            format!("{}, {state}: {}", it.kind, it.message)
        };
        let all: Vec<String> = report.findings.iter().map(shown).collect();
        match report.findings.first() {
            Some(first) => Ok((Way::Failed(first.kind.clone()), all.join("\n"))),
            None => Ok((Way::Passed, String::new())),
        }
    }
}
