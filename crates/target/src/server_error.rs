//! What can go wrong between the driver and a program.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use threadbare_trace::Failure;
use threadbare_wire::{Control, Status};

use crate::harness::why_failed;
use crate::launch::Output;
use crate::outcome::recorded_failure;
use crate::panic::panic;
use crate::program::Program;
use crate::runtime_library::UnpackError;
use crate::signal;

/// Why a program did not come up to its snapshot.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The tool was asked to stop while the program was starting.
    #[error("stopped while the program was starting")]
    Stopped,
    /// The system refused memory, pipes or processes.
    #[error("the system refused what threadbare needs to run a program: {0}")]
    Resources(io::Error),
    /// The runtime library is not available.
    #[error(transparent)]
    Runtime(#[from] UnpackError),
    /// The program could not be started.
    #[error("`{name}` could not be started: {source}; check the program and its input files")]
    Launch {
        /// The program.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The runtime was never called.
    #[error(
        "the threadbare runtime did not come up in `{name}` ({}); build it again with `threadbare cc`{}",
        Ending(status),
        Quoted(output)
    )]
    NoRuntime {
        /// The program.
        name: String,
        /// How it ended.
        status: ExitStatus,
        /// The last lines it wrote.
        output: String,
    },
    /// The program ended well, with nothing to interleave.
    #[error(
        "`{name}` ended without starting a second thread, so there is nothing to interleave; \
         check its arguments and input{}",
        Quoted(output)
    )]
    NoThreads {
        /// The program.
        name: String,
        /// The last lines it wrote.
        output: String,
    },
    /// The program ended badly before its first thread.
    #[error(
        "`{name}` ended before it started a second thread ({}); check its arguments and input{}",
        Ending(status),
        Quoted(output)
    )]
    EndedEarly {
        /// The program.
        name: String,
        /// How it ended.
        status: ExitStatus,
        /// Why, if it is a test that says so.
        why: Option<String>,
        /// The last lines it wrote.
        output: String,
    },
    /// The program failed before its first thread, in every interleaving alike.
    #[error(
        "`{name}` fails before it starts a second thread: {}: {}; this is not a matter of interleaving{}",
        failure.kind.word(), failure.message, Quoted(output)
    )]
    FailedEarly {
        /// The program.
        name: String,
        /// The failure.
        failure: Box<Failure>,
        /// The last lines it wrote.
        output: String,
    },
    /// The program did something in its start-up code that cannot be controlled.
    #[error("`{name}` cannot be controlled: {reason}")]
    Uncontrolled {
        /// The program.
        name: String,
        /// The runtime's message.
        reason: String,
    },
    /// The program took too long before its first thread.
    #[error(
        "`{name}` did not start a second thread within {seconds} s; give it a smaller input{}",
        Quoted(output)
    )]
    TooSlow {
        /// The program.
        name: String,
        /// How long it was given.
        seconds: f64,
        /// The last lines it wrote.
        output: String,
    },
}

impl StartError {
    /// The error for a program that ended before its snapshot.
    pub(crate) fn early_end(
        program: &Program,
        control: &Control,
        status: ExitStatus,
        printed: &Output,
    ) -> StartError {
        let (name, output) = (program.name.clone(), printed.tail());
        if control.uncontrolled != 0 {
            return StartError::Uncontrolled { name, reason: control.message.read() };
        }
        if let Some(failure) = recorded_failure(control) {
            return StartError::FailedEarly { name, failure: Box::new(failure), output };
        }
        if Status::from_number(control.status) == Status::Absent {
            return StartError::NoRuntime { name, status, output };
        }
        if status.success() {
            return StartError::NoThreads { name, output };
        }
        let end = printed.end();
        let why = if program.is_test { why_failed(panic(&end).as_ref(), &end) } else { None };
        StartError::EndedEarly { name, status, why, output }
    }
}

/// Why an execution brought no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The process that makes the copies is gone or does not answer.
    #[error(
        "the program's server process was lost ({}); run again, with --threads os if it persists{}",
        Ending(status),
        Quoted(output)
    )]
    Lost {
        /// How it ended.
        status: ExitStatus,
        /// The last lines it wrote.
        output: String,
    },
    /// The schedule to follow is longer than the step limit allows for.
    #[error(
        "the schedule takes {len} words, and the step limit leaves room for {capacity}; raise --max-steps"
    )]
    ScheduleTooLong {
        /// The length of the policy's parameters.
        len: usize,
        /// The room there is.
        capacity: u64,
    },
    /// The runtime cannot run what it was asked for: it is not the one that belongs to this tool.
    #[error("the runtime inside the program refused the plan of an execution: {0}")]
    PlanRefused(String),
    /// The tool was asked to stop while the program ran.
    #[error("stopped while the program was running")]
    Stopped,
    /// A system call failed.
    #[error("the system refused what threadbare needs to run a program: {0}")]
    System(#[from] io::Error),
}

/// How a process ended, as a phrase.
struct Ending<'a>(&'a ExitStatus);

impl fmt::Display for Ending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.code(), self.0.signal()) {
            (Some(code), _) => write!(f, "exit status {code}"),
            (None, Some(number)) => {
                let (name, meaning) = signal::describe(number);
                write!(f, "ended by {name}, {meaning}")
            }
            (None, None) => write!(f, "{}", self.0),
        }
    }
}

/// The last lines that the program wrote below a message, if there were any.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "; its output ends with:\n{}", self.0) }
    }
}
