//! What happened in one execution, in the words that every other crate uses.
//!
//! This crate knows events, threads, outcomes, schedules and the files they are kept in. It does
//! not know how programs are run, nor what is done with a trace afterwards.

mod event;
mod file;
mod outcome;
mod record;
mod schedule;
mod shown_finding;
mod signal;
mod std_export;

pub use event::{Event, EventKind, LockManner, ThreadId};
pub use file::{EventNames, Moment, SiteName, TraceError, TraceErrorKind, TraceFile, moments};
pub use outcome::{Awaited, Failure, FailureKind, Outcome, Waiting};
pub use record::{ContextRecord, SwitchReason, SwitchRecord};
pub use schedule::{Schedule, ScheduleError, Switch};
pub use shown_finding::ShownFinding;
pub use signal::{SignalMask, signal_name};
pub use std_export::StdExport;
