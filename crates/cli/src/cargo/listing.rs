//! The tests of an executable, as its harness lists them.

use std::process::Command;

use threadbare_target::Program;

use super::build::Executable;
use super::error::CargoError;

/// One test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its executable's identity.
    pub id: String,
    /// Its name in the executable.
    pub name: String,
    /// It is marked `#[ignore]`.
    pub is_ignored: bool,
    /// What runs it.
    pub program: Program,
}

impl Test {
    /// Executable and name, as people read them.
    pub fn shown(&self) -> String {
        format!("{} {}", self.id, self.name)
    }
}

/// Lists the tests of an executable that `selection` leaves, which is a part of its harness's command line.
pub fn tests(executable: &Executable, selection: &[String]) -> Result<Vec<Test>, CargoError> {
    let all = list(executable, selection)?;
    let is_ignored_word = |word: &&String| *word != "--ignored" && *word != "--include-ignored";
    let mut only_ignored: Vec<String> = selection.iter().filter(is_ignored_word).cloned().collect();
    only_ignored.push("--ignored".to_string());
    let ignored = list(executable, &only_ignored)?;
    let program = program(executable);
    let test = |name: String| Test {
        id: executable.id.clone(),
        is_ignored: ignored.contains(&name),
        program: Program {
            args: ["--exact", &name, "--nocapture", "--test-threads=1", "--include-ignored"]
                .map(str::to_string)
                .to_vec(),
            ..program.clone()
        },
        name,
    };
    Ok(all.into_iter().map(test).collect())
}

/// The executable as cargo would run it.
pub fn program(executable: &Executable) -> Program {
    let path = &executable.path;
    let here = std::env::current_dir().unwrap_or_default();
    let name = path.strip_prefix(&here).unwrap_or(path).display().to_string();
    let mut program = Program { executable: path.clone(), name, ..Program::default() };
    program.folder = Some(executable.folder.clone());
    program.env = vec![
        ("CARGO_MANIFEST_DIR".to_string(), executable.folder.display().to_string()),
        ("CARGO_PKG_NAME".to_string(), executable.package.clone()),
        ("CARGO_PKG_VERSION".to_string(), executable.version.clone()),
        // Looking up the lines of a backtrace takes longer than all else that an execution does.
        ("RUST_BACKTRACE".to_string(), "0".to_string()),
    ];
    program.is_test = program.holds_test_harness();
    program
}

/// The names of tests that the harness lists. It runs outside our control, as nothing of the crate runs.
fn list(executable: &Executable, selection: &[String]) -> Result<Vec<String>, CargoError> {
    let failed = |what: String| CargoError::List { id: executable.id.clone(), what };
    let output = Command::new(&executable.path)
        .args(["--list", "--format", "terse"])
        .args(selection)
        .current_dir(&executable.folder)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        return Err(failed(first.trim().to_string()));
    }
    names(&String::from_utf8_lossy(&output.stdout)).map_err(failed)
}

/// The tests in a list; benchmarks are none. What cannot be in a list is an error.
fn names(list: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for line in list.lines().filter(|line| !line.is_empty()) {
        match line.rsplit_once(": ") {
            Some((name, "test")) => names.push(name.to_string()),
            Some((_, "benchmark")) => {}
            _ => return Err(format!("it prints `{line}`")),
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn what_is_no_list_is_not_taken_for_an_empty_one() {
        let list = "queue::grows: test\nqueue::speed: benchmark\nqueue: empty: test\n";
        assert_eq!(names(list), Ok(vec!["queue::grows".to_string(), "queue: empty".to_string()]));
        assert_eq!(names("hello\n"), Err("it prints `hello`".to_string()));
    }
}
