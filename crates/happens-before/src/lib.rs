//! What a trace enforces: the happens-before order by vector clocks, the locksets of its threads, and shadow memory to
//! keep both for every address.
//!
//! Nothing here knows what is a bug, what is covered, or how traces are made: detectors, coverage criteria and models ask.

mod address_table;
mod clocks;
mod locksets;
mod order;
mod shadow_memory;
mod touch;

pub use address_table::{AddressTable, NumberHasher, NumberMap};
pub use clocks::{Epoch, Frontier, Stamp, VectorClock};
pub use locksets::{Change, Held, LockSet, LockSetId, LockSets, Mode};
pub use order::{Order, Rules};
pub use shadow_memory::Memory;
pub use touch::{Touch, reborn};
