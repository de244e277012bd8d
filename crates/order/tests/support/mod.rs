//! Made-up programs, their traces, and what can happen with the steps of a trace: found out by trying everything.

#![allow(dead_code, reason = "each test uses a part of it")]

pub mod oracle;
pub mod program;
pub mod run;

use threadbare_order::{Forest, MemoryRange, Path};
use threadbare_trace::{Event, EventKind};

/// The memory of an access, as goals name it.
pub fn extent(event: &Event) -> MemoryRange {
    MemoryRange { addr: event.addr, len: u64::from(event.size) }
}

/// Whether an event reads memory.
pub fn reads(event: &Event) -> bool {
    use EventKind::*;
    matches!(event.kind(), Some(Read | AtomicRead | AtomicUpdate | AtomicFailed))
}

/// Whether an event writes memory.
pub fn writes(event: &Event) -> bool {
    use EventKind::*;
    matches!(event.kind(), Some(Write | AtomicWrite | AtomicUpdate))
}

/// What a reading event saw.
pub fn seen(event: &Event) -> u64 {
    if event.kind() == Some(EventKind::AtomicUpdate) { event.old } else { event.value }
}

/// A trace with its steps.
pub struct Traced {
    pub events: Vec<Event>,
    pub forest: Forest,
    pub path: Path,
}

impl Traced {
    pub fn new(events: Vec<Event>) -> Traced {
        let mut forest = Forest::new();
        let path = forest.add(&events);
        Traced { events, forest, path }
    }
}
