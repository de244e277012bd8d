//! The commands `threadbare` and `cargo threadbare`: wire the rooms together, and know files, signals and exit statuses.

mod after_help;
mod args;
mod artifacts;
mod before_main;
mod cargo;
mod check;
mod clock;
mod compare;
mod compare_args;
mod completions;
mod coverage;
mod coverage_args;
mod ending;
mod error;
mod failures;
mod findings;
mod generate;
mod generate_args;
mod hunt;
mod numbers;
mod open_questions;
mod output;
mod page;
mod progress;
mod regular;
mod replay;
mod safekeeping;
mod signals;
mod strategy_args;
mod suite;
mod suite_args;
mod suppressions;
mod trace;
mod trust;
mod uncovered;
mod usage;
mod verify;
mod verify_args;

use std::convert::Infallible;
use std::ffi::OsString;
use std::process::ExitCode;
use std::thread;

use threadbare_target::{Language, become_compiler};

use crate::args::{Command, CommandLine};
use crate::error::CliError;

/// Exit status: nothing was found.
const NOTHING: u8 = 0;
/// Exit status: a failure was found.
const FOUND: u8 = 1;
/// Exit status: the tool could not do its job.
const UNABLE: u8 = 2;

/// As much stack as Linux gives a first thread.
const STACK: usize = 8 << 20;

/// `threadbare`.
pub fn threadbare() -> ExitCode {
    status_of(run)
}

/// `cargo threadbare`.
pub fn cargo_threadbare() -> ExitCode {
    status_of(cargo::run)
}

/// Does what is asked for, and says why not where it cannot be done.
fn status_of(command: fn() -> Result<u8, CliError>) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |place| format!(" ({place})"));
        let payload = panic.payload();
        let what = payload.downcast_ref::<&str>().copied();
        let what = what.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let what = what.unwrap_or("no message");
        output::say(&format!("this is a bug in threadbare, please report it: {what}{place}"));
        // A worker that died must not leave the others waiting for it.
        std::process::exit(i32::from(UNABLE));
    }));
    let done = move || {
        ExitCode::from(command().unwrap_or_else(|error| {
            output::say(&error.to_string());
            UNABLE
        }))
    };
    // The first thread has as much stack as the user's limit says, which may be too little.
    match thread::Builder::new().name("command".into()).stack_size(STACK).spawn(done) {
        Ok(thread) => thread.join().unwrap_or(ExitCode::from(UNABLE)),
        Err(_) => done(),
    }
}

fn run() -> Result<u8, CliError> {
    let words: Vec<OsString> = std::env::args_os().collect();
    // What follows `cc` belongs to the compiler, `--help` included.
    match words.get(1).and_then(|word| word.to_str()) {
        Some("cc") => return compile(Language::C, &words[2..]),
        Some("c++") => return compile(Language::Cxx, &words[2..]),
        _ => {}
    }
    match CommandLine::understand(&words) {
        Err(problem) => usage::answer(&problem, &words, CommandLine::described()),
        Ok(line) => match line.command {
            Command::Hunt(args) => hunt::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Verify(args) => verify::run(&args),
            Command::Compare(args) => compare::run(&args),
            Command::Suite(args) => suite::run(&args),
            Command::Generate(args) => generate::run(&args),
            Command::Report(args) => page::run(&args),
            Command::Replay(args) => replay::run(&args),
            Command::Trace(args) => trace::run(&args),
            Command::Cc(args) => compile(Language::C, &args.args),
            Command::Cxx(args) => compile(Language::Cxx, &args.args),
            Command::Completions { shell } => completions::run(shell),
        },
    }
}

/// The compiler takes this process over, so it only comes back to say why it could not.
fn compile(language: Language, args: &[OsString]) -> Result<u8, CliError> {
    let never: Infallible = become_compiler(language, args)?;
    match never {}
}
