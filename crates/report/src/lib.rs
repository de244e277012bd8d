//! What people and programs read about an execution: the interleaving as a table of thread
//! lanes, and the JSON object.
//!
//! This crate is given events, switches and an outcome. It does not know how they came about, nor
//! how a program's symbols are read: the [`Names`] trait stands between.

mod describe;
mod failure;
mod json;
mod lanes;
mod look;
mod names;
mod recorded;
mod terminal;
mod timeline;

pub use describe::{about_switch, event_text};
pub use failure::{failure_phrase, failure_site, name_addresses};
pub use json::{Coverage, FailureReport, Finding, JsonReport, ReplayReport, Verdict};
pub use look::Look;
pub use names::{Names, Place};
pub use recorded::{RecordedNames, record};
pub use terminal::interleaving;
pub use timeline::Interleaving;
