//! The suite file: a program, and inputs for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

/// Why there is no suite.
#[derive(Debug, thiserror::Error)]
pub enum SuiteFileError {
    /// The file could not be read.
    #[error("`{}` cannot be read: {source}; check the path", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It makes no sense.
    #[error("`{}` is no suite: {problem}", path.display())]
    Senseless {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
}

/// How long an input may go without a step where it does not say so itself.
const STALL: f64 = 10.0;
/// The longest that it may say.
const LONGEST: f64 = 86_400.0;

/// A suite as it was read.
#[derive(Debug)]
pub struct SuiteFile {
    /// The folder that the file lies in.
    pub folder: PathBuf,
    /// What is run.
    pub source: Source,
    /// Compiler flags for a source file.
    pub cflags: Vec<String>,
    /// What it is run with.
    pub inputs: Vec<Input>,
}

/// Where the program comes from.
#[derive(Debug)]
pub enum Source {
    /// A source file or an executable.
    Program(PathBuf),
    /// What a command builds.
    Build {
        /// The command.
        command: String,
        /// What it builds.
        binary: PathBuf,
    },
}

/// One input.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The arguments.
    pub args: Vec<String>,
    /// What it reads as standard input.
    pub stdin: Option<String>,
    /// Files that it reads, from the folder of the suite.
    pub files: Vec<PathBuf>,
    /// What it finds in its environment.
    pub env: BTreeMap<String, String>,
    /// How long it may go without a step.
    pub stall: Duration,
    /// How long it may take to start its first thread, if it says so.
    pub start_limit: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    program: Option<PathBuf>,
    build: Option<String>,
    binary: Option<PathBuf>,
    cflags: Option<String>,
    #[serde(default)]
    input: Vec<InputTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputTable {
    name: String,
    #[serde(default)]
    args: Vec<String>,
    stdin: Option<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    timeout_s: Option<f64>,
}

impl SuiteFile {
    /// Reads a suite file and checks all that can be checked without running anything.
    pub fn read(path: &Path) -> Result<SuiteFile, SuiteFileError> {
        let failed = |source| SuiteFileError::Unreadable { path: path.to_path_buf(), source };
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        parse(&text, folder)
            .map_err(|problem| SuiteFileError::Senseless { path: path.to_path_buf(), problem })
    }
}

fn parse(text: &str, folder: PathBuf) -> Result<SuiteFile, String> {
    let table: Table = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let place = line.map_or_else(String::new, |line| format!("line {line}: "));
        format!("{place}{}", error.message().replace('\n', ", "))
    })?;
    let source = match (table.program, table.build, table.binary) {
        (Some(program), None, None) => Source::Program(within(&folder, program)),
        (None, Some(command), Some(binary)) => Source::Build { command, binary: within(&folder, binary) },
        (None, None, None) => {
            return Err("it names no program; add `program = \"…\"`, or `build` and `binary`".into());
        }
        (Some(_), _, _) => {
            return Err("it has `program` beside `build` or `binary`; leave out one or the other".into());
        }
        (None, Some(_), None) => {
            return Err("it has `build` without `binary`; say what the command builds".into());
        }
        (None, None, Some(_)) => {
            return Err("it has `binary` without `build`; call it `program` if it is built already".into());
        }
    };
    let cflags = table.cflags.unwrap_or_default();
    let cflags = shlex::split(&cflags).ok_or("`cflags` has an open quote; close it")?;
    if table.input.is_empty() {
        return Err("it has no input; add one that begins with `[[input]]` and has a `name`".into());
    }
    let mut names = BTreeSet::new();
    let mut inputs = Vec::new();
    for input in table.input {
        if !names.insert(input.name.clone()) {
            return Err(format!("two inputs are called `{}`; give each a name of its own", input.name));
        }
        inputs.push(check(input, &folder)?);
    }
    Ok(SuiteFile { folder, source, cflags, inputs })
}

/// A path in a folder, written as people would.
fn within(folder: &Path, path: PathBuf) -> PathBuf {
    if folder == Path::new(".") { path } else { folder.join(path) }
}

fn check(input: InputTable, folder: &Path) -> Result<Input, String> {
    let InputTable { name, args, stdin, files, env, timeout_s } = input;
    if name.trim().is_empty() {
        return Err("an input has an empty name; give it one".into());
    }
    if let Some(file) = files.iter().find(|file| !folder.join(file).is_file()) {
        return Err(format!("input `{name}` needs the file `{}`, which is not there", file.display()));
    }
    if let Some(variable) = env.keys().find(|key| key.is_empty() || key.contains(['=', '\0'])) {
        return Err(format!("input `{name}`: `{variable}` cannot be the name of an environment variable"));
    }
    if args.iter().chain(env.values()).any(|text| text.contains('\0')) {
        return Err(format!("input `{name}` has a zero byte in an argument or in `env`; leave it out"));
    }
    let seconds = timeout_s.unwrap_or(STALL);
    if !(seconds > 0.0 && seconds <= LONGEST) {
        return Err(format!("input `{name}`: `timeout_s` has to be above 0 and at most {LONGEST}"));
    }
    let start_limit = timeout_s.map(Duration::from_secs_f64);
    Ok(Input { name, args, stdin, files, env, stall: Duration::from_secs_f64(seconds), start_limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        parse(text, PathBuf::from(".")).expect_err("a suite that makes no sense")
    }

    #[test]
    fn a_suite_has_a_program_and_inputs() {
        let text = "build = 'make'\nbinary = 'a'\ncflags = '-O1 \"-DX=a b\"'\n\
                    [[input]]\nname = 'one'\nargs = ['-x']\nenv = { MODE = 'fast' }\ntimeout_s = 2.5\n";
        let suite = parse(text, PathBuf::from("tests")).expect("a suite");
        assert_eq!(suite.cflags, ["-O1", "-DX=a b"]);
        assert!(matches!(&suite.source, Source::Build { binary, .. } if binary == Path::new("tests/a")));
        assert_eq!(suite.inputs[0].stall, Duration::from_millis(2500));
        assert_eq!(suite.inputs[0].env["MODE"], "fast");
    }

    #[test]
    fn what_is_wrong_is_said_in_one_sentence() {
        let one = "[[input]]\nname = 'one'\n";
        for (text, part) in [
            ("nonsense", "line 1: "),
            ("program = 'a.c'\n", "no input"),
            (one, "names no program"),
            (&format!("program = 'a.c'\nbinary = 'a'\n{one}"), "leave out one"),
            (&format!("build = 'make'\n{one}"), "without `binary`"),
            (&format!("binary = 'a'\n{one}"), "without `build`"),
            (&format!("program = 'a.c'\n{one}{one}"), "two inputs are called `one`"),
            (&format!("program = 'a.c'\n{one}argz = ['x']\n"), "unknown field `argz`"),
            (&format!("program = 'a.c'\n{one}files = ['gone.txt']\n"), "gone.txt"),
            (&format!("program = 'a.c'\n{one}timeout_s = 0\n"), "timeout_s"),
            (&format!("program = 'a.c'\n{one}timeout_s = nan\n"), "timeout_s"),
            (&format!("program = 'a.c'\n{one}env = {{ 'A=B' = 'x' }}\n"), "environment variable"),
            ("program = 'a.c'\n[[input]]\nargs = []\n", "missing field `name`"),
            ("program = 'a.c'\n[[input]]\nname = ' '\n", "empty name"),
        ] {
            let said = problem(text);
            assert!(said.contains(part) && !said.contains('\n'), "{text:?}: {said}");
        }
    }
}
