//! Checkpoints: copies of a program that an execution leaves behind on its way.

use threadbare_trace::ThreadId;

/// How many copies one execution may leave behind.
pub const MOST_LEFT: usize = 8;

/// Where an execution is to leave copies of itself behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Leaving {
    /// The visible steps after which the first one is due; 0 for none at all.
    pub first: u64,
    /// The steps from one to the next.
    pub gap: u64,
    /// The slots at which they take orders.
    pub slots: [u32; MOST_LEFT],
    /// How many of the slots may be used.
    pub most: u32,
    /// How many copies were left behind.
    pub left: u32,
}

/// A copy that was left behind, and how far the execution was by then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct CheckpointRecord {
    /// Visible steps made.
    pub steps: u64,
    /// Events written.
    pub events: u64,
    /// Switches written.
    pub switches: u64,
    /// Decisions written.
    pub decisions: u64,
    /// Contexts written.
    pub contexts: u64,
    /// Touches written.
    pub touches: u64,
    /// The operation of the running thread that comes next, counted in its thread.
    pub op: u32,
    /// Threads created.
    pub threads: u32,
    /// The largest number of threads alive at once.
    pub peak_threads: u32,
    /// Where the copy takes its orders.
    pub slot: u32,
    /// The copy's number.
    pub process: i32,
    /// The running thread.
    pub thread: ThreadId,
    /// Always 0.
    pub spare: u16,
}
