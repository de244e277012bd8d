//! Runs the tool as a user would.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod browser;
pub mod claims;
pub mod reported;
pub mod subject;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What came back from one call of the tool.
pub struct Answer {
    /// The exit status.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A folder of its own for a test, and the tool started in it.
pub struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    /// An empty folder.
    pub fn new() -> Desk {
        Desk { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file in the temporary folder");
        path
    }

    /// The tool, about to be started in the folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadbare"));
        // Looking up the places of a backtrace takes a panicking program longer than all the rest.
        command
            .current_dir(self.folder.path())
            .args(args)
            .env_remove("NO_COLOR")
            .env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs the tool to its end.
    pub fn run(&self, args: &[&str]) -> Answer {
        let output = self.command(args).output().expect("the tool starts");
        output.into()
    }
}

impl From<Output> for Answer {
    fn from(output: Output) -> Answer {
        Answer {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Answer {
    /// The JSON object on standard output.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\nstdout: {}\nstderr: {}", self.stdout, self.stderr))
    }
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository").join(path)
}

/// A report without what depends on how fast the machine is.
pub fn without_times(mut report: serde_json::Value) -> serde_json::Value {
    match &mut report {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| name != "elapsed_s" && name != "executions_per_s");
            fields.values_mut().for_each(|value| *value = without_times(value.take()));
        }
        serde_json::Value::Array(values) => {
            values.iter_mut().for_each(|value| *value = without_times(value.take()));
        }
        _ => {}
    }
    report
}
