//! The shared memory between the driver and the runtime inside the tested program.
//!
//! One memory file per server process: a [`Control`] block, then areas of fixed-size
//! records. The driver writes requests, the runtime writes what happened. Nothing here is a
//! pointer, so both sides may map it anywhere.

mod area;
mod checkpoint;
mod control;
mod dependence;
mod file_change;
mod own_code;
mod repetition;
mod std_op;

pub use area::{Area, Layout};
pub use checkpoint::{CheckpointRecord, Leaving, MOST_LEFT};
pub use control::{
    CallRecord, Control, DeadRegistersRecord, DecisionRecord, LearnedRecord, LockSetRecord, MAGIC,
    MESSAGE_BYTES, OfferRecord, Order, PlanRecord, Reply, ReplyKind, Request, STACK_DEPTH, Slot, Status,
    Text, TouchRecord, UntriedRecord, flags,
};
pub use dependence::DependenceRecord;
pub use file_change::{Before, FileChange};
pub use own_code::{CodeRange, own_place};
pub use repetition::{Leak, Repetition};
pub use std_op::{StdOp, UnknownStdOp};
pub use threadbare_trace::{ContextRecord, SwitchRecord};

/// The number a tested program takes its process for; its threads follow. It is above what the kernel gives to
/// anybody, so that a number that goes astray hits nobody.
pub const PROCESS_NUMBER: i32 = 5_000_000;

/// The environment variable that names the inherited descriptors: `memory,requests,replies`.
pub const CONTROL_VARIABLE: &str = "THREADBARE_CONTROL";

/// The environment variable by which GCC's library for OpenMP is told how long to look at a word before it sleeps, and a text for "not at all"
/// that nobody else writes so: all threads are one to the system, and who looks keeps the others from changing anything.
pub const SPIN_VARIABLE: &std::ffi::CStr = c"GOMP_SPINCOUNT";
/// See [`SPIN_VARIABLE`].
pub const NO_SPINNING: &std::ffi::CStr = c"0000000000";

/// The name of the runtime library, as the loader knows it.
pub const RUNTIME_LIBRARY: &str = "libthreadbare_rt.so";
