//! Making the program of a suite.

use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use threadbare_explore::suite::{Source, SuiteFile};
use threadbare_target::{Program, resolve};

use crate::error::CliError;

/// How often it is looked whether a command has ended.
const LOOK: Duration = Duration::from_millis(20);
/// The most of a failed command's output that is shown.
const SHOWN_LINES: usize = 20;

/// The program of a suite, built if need be, without any input.
pub fn program(suite: &SuiteFile, out: &Path, stop: &AtomicBool) -> Result<Program, CliError> {
    let path = match &suite.source {
        Source::Program(path) => path,
        Source::Build { command, binary } => {
            run(command, &suite.folder, stop)?;
            binary
        }
    };
    let resolved = resolve(path, &suite.cflags, out);
    if stop.load(Ordering::Relaxed) {
        return Err(CliError::InterruptedEarly);
    }
    Ok(resolved?)
}

/// Runs a command with the compilers replaced by ours.
fn run(command: &str, folder: &Path, stop: &AtomicBool) -> Result<(), CliError> {
    let failed = |what: String| CliError::SuiteBuild { command: command.to_string(), what };
    let io_failed = |error: io::Error| failed(error.to_string());
    let this = std::env::current_exe().map_err(io_failed)?;
    let this = this.display().to_string();
    let quoted =
        shlex::try_quote(&this).map_err(|_| failed("the path of threadbare has a zero byte".into()))?;
    let mut output = tempfile::tempfile().map_err(io_failed)?;
    let child = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("CC", format!("{quoted} cc"))
        .env("CXX", format!("{quoted} c++"))
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(io_failed)?)
        .stderr(output.try_clone().map_err(io_failed)?)
        // A group of its own, so that all of it can be ended.
        .process_group(0)
        .spawn()
        .map_err(io_failed)?;
    let mut group = Group(child);
    let status = loop {
        if stop.load(Ordering::Relaxed) {
            return Err(CliError::InterruptedEarly);
        }
        match group.0.try_wait().map_err(io_failed)? {
            Some(status) => break status,
            None => std::thread::sleep(LOOK),
        }
    };
    if status.success() {
        return Ok(());
    }
    output.rewind().map_err(io_failed)?;
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes).map_err(io_failed)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let end = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
    Err(failed(format!("{status}\n{end}").trim_end().to_string()))
}

/// A command with all it started, which ends with this value.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let group = format!("-{}", self.0.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = self.0.wait();
        }
    }
}
