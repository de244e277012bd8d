//! Detectors: races, atomicity and order violations, deadlocks and unprotected variables in one trace.
//!
//! A detector is one file. It reads the events of one execution in order and reports what it found; it knows neither how traces
//! are made nor what is done with a [`Finding`].

mod atomicity;
mod deadlock;
mod detector;
mod either_order;
mod examine;
mod finding;
mod interrupts;
mod lock_discipline;
mod multi_variable;
mod race;
mod synchronization;

pub use atomicity::Atomicity;
pub use deadlock::Deadlock;
pub use deadlock::observed::observed_deadlock;
pub use deadlock::word_locks::WordDeadlock;
pub use detector::Detector;
pub use either_order::EitherOrder;
pub use examine::{Examination, detectors};
pub use finding::{Access, Certainty, Finding, FindingKind, FindingSet, Key};
pub use interrupts::Interrupts;
pub use lock_discipline::LockDiscipline;
pub use multi_variable::MultiVariable;
pub use race::happens_before::HappensBefore;
pub use race::hybrid::Hybrid;
