//! Reasons not to take "there is no such order" for a statement about the program.
//!
//! An order that is found is one that the recorded steps allow. That none is found means that no order of the recorded
//! steps will do *as they are understood here*: some things are only kept as they were recorded, because a trace does
//! not record enough about them.

use std::fmt;

/// What is not understood well enough to say what cannot happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Doubt {
    /// Executions did not begin with the same memory.
    Start,
    /// A thread that had observed the same did something else.
    Undetermined,
    /// Accesses of different sizes, or to more bytes than a trace records, overlap.
    Overlap,
    /// Memory changed although nobody was seen to write it.
    HiddenWrite,
    /// Futexes.
    Futex,
    /// Waits that end by time, or that were given up.
    Time,
    /// Operations that were tried and refused.
    Refusal,
    /// Descriptors, signals, cancellation or other processes.
    Outside,
    /// Memory or synchronization objects that are freed, destroyed or initialised.
    Lifetime,
    /// Several threads create threads.
    Creation,
    /// Barriers.
    Rounds,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doubt::Start => "executions did not begin with the same memory",
            Doubt::Undetermined => "a thread that had observed the same did something else",
            Doubt::Overlap => "accesses of different sizes, or of more than eight bytes, overlap",
            Doubt::HiddenWrite => "memory changed although nobody was seen to write it",
            Doubt::Futex => "futexes",
            Doubt::Time => "time (sleeps, and waits that time ended)",
            Doubt::Refusal => "operations that were tried and refused",
            Doubt::Outside => "input and output, signals, cancellation or other processes",
            Doubt::Lifetime => "memory or synchronization objects that are released or made anew",
            Doubt::Creation => "several threads that create threads",
            Doubt::Rounds => "barriers",
        })
    }
}
