//! Why the tool could not do its job. Each says what to do next.

use std::io;
use std::path::PathBuf;

use threadbare_code::CodeError;
use threadbare_diagnose::DiagnoseError;
use threadbare_explore::ExploreError;
use threadbare_explore::suite::SuiteFileError;
use threadbare_target::{ProgramError, WrapperError};
use threadbare_trace::{ScheduleError, TraceError};

use crate::cargo::error::CargoError;

/// Why the tool could not do its job.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// There is no program to run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The campaign could not be run.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// A failure could not be run again.
    #[error(transparent)]
    Diagnose(#[from] DiagnoseError),
    /// The compiler could not be run.
    #[error(transparent)]
    Wrapper(#[from] WrapperError),
    /// A crate could not be built, or has no tests.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// A file could not be read.
    #[error("`{}` cannot be read: {source}; check the path", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no suite file, or it makes no sense.
    #[error(transparent)]
    Suite(#[from] SuiteFileError),
    /// The build command of a suite failed.
    #[error("the suite's build command `{command}` failed: {what}")]
    SuiteBuild {
        /// The command.
        command: String,
        /// What it said.
        what: String,
    },
    /// The executable's code cannot be read.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// No input of a suite has anything to interleave.
    #[error(
        "no input of `{}` starts a second thread, so there is nothing to interleave; \
         check the inputs' arguments",
        path.display()
    )]
    NoThreads {
        /// The suite.
        path: PathBuf,
    },
    /// No input of a suite could be run.
    #[error("no input of `{}` could be run; the first: {first}", path.display())]
    NoInput {
        /// The suite.
        path: PathBuf,
        /// What is wrong with the first one.
        first: String,
    },
    /// A file is no schedule.
    #[error("`{}` cannot be replayed: {problem}; give a file that `threadbare hunt` wrote", path.display())]
    Schedule {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: ScheduleError,
    },
    /// A file is no trace, or not all of one.
    #[error("`{}` is no whole trace: {problem}; {rest}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: TraceError,
        /// What became of the part that could be read, or what to do.
        rest: String,
    },
    /// A folder holds no campaign.
    #[error(
        "`{}` holds no campaign: there is neither a `.campaign.json` nor a `.trace` file in it; \
         run `threadbare hunt PROGRAM --out {}` first",
        .0.display(), .0.display()
    )]
    NoCampaign(PathBuf),
    /// Nothing in a campaign's folder can be read.
    #[error("nothing in `{}` can be shown: {problems}", path.display())]
    CampaignLost {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        problems: String,
    },
    /// Some of what a campaign's folder should hold is missing.
    #[error("`{}` is not whole: {problems}; `{}` shows the rest", path.display(), page.display())]
    CampaignNotWhole {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        problems: String,
        /// The page that was written.
        page: PathBuf,
    },
    /// A schedule asks for what could have anything run.
    #[error(
        "`{}` was not made here, and what it says {demands}, with which anything can be run; \
         read it, and give --trust if that is what you want",
        path.display()
    )]
    Untrusted {
        /// The schedule.
        path: PathBuf,
        /// What would be done.
        demands: String,
    },
    /// A schedule does not name its program.
    #[error("`{}` names no program; name one with --program", path.display())]
    NoProgram {
        /// The schedule.
        path: PathBuf,
    },
    /// The program named in a schedule is not where it was.
    #[error("{problem}, or name the program with --program")]
    Moved {
        /// What is wrong.
        problem: ProgramError,
    },
    /// The program names no operations.
    #[error(
        "`{0}` names no operations of an object; include <threadbare.h> and name them, as \
         `threadbare generate --help` shows"
    )]
    NoOperations(String),
    /// A signal came while the program was being built.
    #[error("interrupted while the program was being built; nothing was run")]
    InterruptedEarly,
    /// A result could not be written.
    #[error(
        "`{}` cannot be written: {source}; choose another place with --out, --json, --junit, --html, --sarif, --trace, --graph or -o",
        path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Standard output could not be written.
    #[error("the result cannot be written to standard output: {0}")]
    Stdout(io::Error),
    /// There was no time to diagnose a failure.
    #[error("there was no time to diagnose the failure")]
    GivenUp,
    /// Signals could not be taken.
    #[error("the handler for Ctrl-C could not be set up: {0}; try again")]
    Signals(ctrlc::Error),
}
