//! What happened in one execution, and the words every other room uses for it.
//!
//! This crate knows events, threads, outcomes and schedules. It does not know how programs are
//! run, nor what is done with a trace afterwards.

mod event;
mod outcome;
mod schedule;

pub use event::{Event, EventKind, ThreadId};
pub use outcome::{Failure, FailureKind, Outcome};
pub use schedule::{Schedule, ScheduleError, Switch};
