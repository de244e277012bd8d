//! What a trace enforces: the happens-before order by vector clocks, the locksets of its threads, and shadow memory to
//! keep both for every address.
//!
//! Nothing here knows what is a bug, what is covered, or how traces are made: detectors, coverage criteria and models ask.

mod accessed_bytes;
mod address_table;
mod clocks;
mod locksets;
mod shadow_memory;
mod thread_clocks;

pub use accessed_bytes::{AccessedBytes, reused_range};
pub use address_table::{AddressTable, NumberHasher, NumberMap};
pub use clocks::{Epoch, Frontier, Stamp, VectorClock};
pub use locksets::{HeldLock, LockChange, LockSet, LockSetId, LockSets, Mode};
pub use shadow_memory::ShadowMemory;
pub use thread_clocks::{Rules, ThreadClocks};
