//! Many inputs of one program, without repeating the work: measure which functions can run at the same time under each input, select
//! inputs and functions that together show every such pair, and look for races and atomicity violations only there.

mod common_memory;
mod detect;
mod drive;
mod file;
mod identity;
mod input_outcome;
mod measure;
mod run_limits;
mod start_failure;
mod watch;

use threadbare_trace::{FailureKind, Outcome};

pub use detect::{Detected, Detection, Sighting, detect};
pub use drive::drive_to_happen;
pub use file::{Input, Source, SuiteFile, SuiteFileError};
pub use input_outcome::InputOutcome;
pub(crate) use measure::ExecutedFunctions;
pub use measure::{Measured, measure};
pub use run_limits::RunLimits;
pub use watch::{Optimizations, Watch};

/// Whether the program did not come to an end.
fn has_no_end(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Failed(failure) => failure.kind == FailureKind::Hang,
        Outcome::Cut(_) => true,
        Outcome::Passed | Outcome::Uncontrolled(_) => false,
    }
}
