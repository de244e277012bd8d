//! Detectors over traces: races, atomicity violations, deadlocks and unprotected variables, and the
//! seventeen memory-access patterns.
//!
//! A detector is one file. It reads the events of one execution in order and says what it found;
//! nothing here knows how traces are made.

mod access;
mod address_table;
mod atomicity;
mod cause;
pub mod cfp;
mod chain;
mod clocks;
pub mod coverage;
mod deadlock;
mod detector;
mod either_order;
mod examine;
mod finding;
mod freed;
mod inconsistent;
mod interrupts;
mod lock_discipline;
mod locks;
mod memory;
mod multi_variable;
mod order;
pub mod patterns;
mod pending;
mod race;
mod reversible;
mod stuck;
mod synchronization;
mod torn;
pub mod total;
mod unexpected;
mod unwoken;

pub use atomicity::Atomicity;
pub use cause::{Cause, Compared, cause, causes};
pub use deadlock::Deadlock;
pub use deadlock::words::WordDeadlock;
pub use detector::Detector;
pub use either_order::EitherOrder;
pub use examine::{Examination, detectors};
pub use finding::{Access, Certainty, Finding, FindingKind, FindingSet, Key};
pub use freed::freed;
pub use inconsistent::{Inconsistent, Seen, inconsistent};
pub use interrupts::Interrupts;
pub use lock_discipline::LockDiscipline;
pub use locks::{Change, Held, LockSets, Mode};
pub use multi_variable::MultiVariable;
pub use pending::pending;
pub use race::happens_before::HappensBefore;
pub use race::hybrid::Hybrid;
pub use stuck::stuck;
pub use unexpected::{Unexpected, unexpected};
pub use unwoken::{Unwoken, Why, unwoken};
