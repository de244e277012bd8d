//! Many inputs of one program, without repeating the work: measure which functions can run at the same time under each input, select
//! inputs and functions that together show every such pair, and look for races and atomicity violations only there.

mod detect;
mod early;
mod ending;
mod file;
mod happen;
mod identity;
mod measure;
mod meet;
mod terms;
mod watch;

use threadbare_trace::{FailureKind, Outcome};

pub use detect::{Detected, Detection, Sighting, detect};
pub use ending::Ending;
pub use file::{Input, Source, SuiteFile, SuiteFileError};
pub use happen::drive_to_happen;
pub use measure::{Measured, measure};
pub use terms::Terms;
pub use watch::{Optimizations, Watch};

fn is_hang(outcome: &Outcome) -> bool {
    outcome.failure().is_some_and(|failure| failure.kind == FailureKind::Hang)
}
