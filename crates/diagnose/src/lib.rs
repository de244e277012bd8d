//! Why an execution failed: the failing schedule is run again, minimised, and compared with other executions of the program.
//!
//! This crate is given a program and a failing execution, and returns sentences, findings, schedules and traces as data. It knows
//! neither terminals nor command lines, nor where files are kept and what they are called.

mod cancellation;
pub mod causes;
mod comparison_runs;
mod conditions;
mod diagnosis;
mod effort;
mod error;
mod explain;
mod failure_report;
mod names;
mod original;
mod own_lines;
mod recording;
mod replayer;
mod sentences;

pub use comparison_runs::{ComparisonRuns, OtherExecutions};
pub use conditions::{Conditions, MOST_SECONDS, MOST_STEPS};
pub use diagnosis::{Diagnosis, DiagnosisOptions, DiagnosisPhase, LeftOut, diagnose};
pub use error::DiagnoseError;
pub use explain::{Explanation, explain};
pub use failure_report::{SaidOfFailure, describe_failure, said_of_failure, trace_hash};
pub use names::{ExecutionNames, place_of};
pub use recording::{from_schedule, interleaving_of, recorded, to_schedule};
pub use replayer::{Replayer, same_failure};
pub use sentences::{cause_text, inconsistent_text, missed_wakeup_text, unexpected_text};
