//! What a failing trace shows that passing ones do not, and what the end of a failing trace says by itself.
//!
//! One file for each sort of cause. They read events alone: executions are made elsewhere, and sentences as well.

mod failure_chain;
mod inconsistent_values;
mod missed_wakeup;
mod pattern;
mod pending_steps;
mod reversible;
mod torn_update;
mod unexpected_value;
mod use_after_free;

pub use inconsistent_values::{Inconsistent, ReadValue, inconsistent};
pub use missed_wakeup::{MissedWakeup, WhyMissed, missed_wakeup};
pub use pattern::{Cause, Compared, causes};
pub use pending_steps::pending;
pub use unexpected_value::{Unexpected, unexpected};
pub use use_after_free::use_after_free;
