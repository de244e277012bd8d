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
    /// The thread that was scheduled.
    pub to: ThreadId,
    /// The object of the operation.
    pub addr: u64,
    /// The operation's `EventKind` by number.
    pub kind: u8,
    /// Why: the number of a [`SwitchReason`].
    pub reason: u8,
    /// Keeps what follows aligned.
    pub spare: u16,
    /// The calls in progress in `from`, as a number in the context area; 0 for none.
    pub context: u32,
}

impl SwitchRecord {
    /// Why it happened; none for a number from a newer version.
    pub fn why(&self) -> Option<SwitchReason> {
        SwitchReason::ALL.into_iter().find(|reason| *reason as u8 == self.reason)
    }
}

/// Why control went from one thread to another. The numbers are part of the shared-memory layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum SwitchReason {
    /// The policy preferred another thread.
    Chosen = 0,
    /// The thread was blocked.
    Blocked = 1,
    /// The thread had ended.
    Ended = 2,
    /// The thread was spinning, or yielded.
    Yielded = 3,
    /// A new thread was run up to its first visible operation.
    Starting = 4,
    /// Back to the creator from there.
    Started = 5,
}

impl SwitchReason {
    /// Every reason, in the order of their numbers.
    pub const ALL: [SwitchReason; 6] = [
        SwitchReason::Chosen,
        SwitchReason::Blocked,
        SwitchReason::Ended,
        SwitchReason::Yielded,
        SwitchReason::Starting,
        SwitchReason::Started,
    ];

    /// The words that files and scripts see.
    pub fn word(self) -> &'static str {
        match self {
            SwitchReason::Chosen => "chosen",
            SwitchReason::Blocked => "blocked",
            SwitchReason::Ended => "ended",
            SwitchReason::Yielded => "yielded",
            SwitchReason::Starting => "new thread starts",
            SwitchReason::Started => "new thread is ready",
        }
    }
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
