//! Concurrent function pairs: which functions of a program can run at the same time under an input.
//!
//! Two functions are concurrent if a thread can enter one of them while another thread is between the entrance and the exit
//! of the other. Locks forbid it where both are held, creation, join and barriers forbid it where they order; the order in which
//! locks happened to be taken says nothing. Only entrances, exits and synchronization are looked at, no access to memory.
//!
//! (The published pseudo code gives up as soon as *one* of the two cannot be entered within the other. By the definition in the text,
//! and by its own example of a main function that runs on beside its worker, one of the two is enough.)

mod inherit;
mod instances;
mod order_clocks;
mod select;
mod uncovered;

pub use inherit::inherit;
pub use instances::{CallInstance, CallLock, ExecutionCalls, concurrent_pairs};
pub use order_clocks::OrderClocks;
pub use select::{Selected, functions_of, select};
pub use uncovered::uncovered;

/// A function, by the address where it begins.
pub type FunctionAddress = u64;

/// Two functions that can run at the same time (or one of which two threads can run), the lower address first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionPair(FunctionAddress, FunctionAddress);

impl FunctionPair {
    /// The pair of these two, in whatever order.
    pub fn of(one: FunctionAddress, other: FunctionAddress) -> FunctionPair {
        FunctionPair(one.min(other), one.max(other))
    }

    /// Both functions.
    pub fn functions(self) -> [FunctionAddress; 2] {
        [self.0, self.1]
    }
}
