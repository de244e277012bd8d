//! Context switches and calls in progress, as the runtime writes them into shared memory.

use crate::ThreadId;

/// One context switch as it happened, or as it shall happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct SwitchRecord {
    /// The code address of the operation before which `from` stopped.
    pub pc: u64,
    /// The operation's number in its thread.
    pub op: u32,
    /// The thread that stopped.
    pub from: ThreadId,
    /// The thread that went on.
    pub to: ThreadId,
    /// The object of the operation.
    pub addr: u64,
    /// The operation's `EventKind` by number.
    pub kind: u8,
    /// Why: 0 the policy chose, 1 the thread was blocked, 2 it ended, 3 it gave way, 4 a new thread
    /// was run up to its first operation, 5 back from that.
    pub reason: u8,
    /// Keeps what follows aligned.
    pub spare: u16,
    /// The calls in progress in `from`, as a number in the context area; 0 for none.
    pub context: u32,
}

/// One call in progress, and those it was made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct ContextRecord {
    /// Where the call returns to.
    pub pc: u64,
    /// The number of the context in which it was made; 0 for none.
    pub parent: u32,
    /// Keeps the size a multiple of eight.
    pub spare: u32,
}
