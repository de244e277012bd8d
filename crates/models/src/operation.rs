//! A step of a thread as the trace model sees it: location, operation, operand (§3.6).

use threadbare_happens_before::AccessedBytes;
use threadbare_trace::{Event, EventKind, ThreadId, kinds};

/// Where a step is made: by which thread, at which place in the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Location {
    /// The thread.
    pub thread: ThreadId,
    /// The code address.
    pub site: u64,
}

impl Location {
    /// Where an event happened.
    pub fn of(event: &Event) -> Location {
        Location { thread: event.thread, site: event.pc }
    }
}

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OperationKind {
    /// Takes a lock alone.
    Lock,
    /// Takes a lock with other readers.
    ReadLock,
    /// Releases a lock.
    Unlock,
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// Reads memory atomically.
    AtomicRead,
    /// Writes memory atomically, or reads and writes it in one.
    AtomicWrite,
    /// Anything else, by the number of its kind.
    Other(u8),
}

impl OperationKind {
    /// Whether it changes memory.
    pub fn writes(self) -> bool {
        use OperationKind::*;
        match self {
            Write | AtomicWrite => true,
            Lock | ReadLock | Unlock | Read | AtomicRead | Other(_) => false,
        }
    }

    /// Whether it is an access to memory.
    pub fn accesses(self) -> bool {
        use OperationKind::*;
        match self {
            Read | Write | AtomicRead | AtomicWrite => true,
            Lock | ReadLock | Unlock | Other(_) => false,
        }
    }

    /// Whether it is an atomic access to memory.
    pub fn is_atomic(self) -> bool {
        use OperationKind::*;
        match self {
            AtomicRead | AtomicWrite => true,
            Lock | ReadLock | Unlock | Read | Write | Other(_) => false,
        }
    }

    /// Whether it acquires a lock, alone or with other readers.
    pub fn acquires_lock(self) -> bool {
        use OperationKind::*;
        match self {
            Lock | ReadLock => true,
            Unlock | Read | Write | AtomicRead | AtomicWrite | Other(_) => false,
        }
    }
}

/// A step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Operation {
    /// The place in the code.
    pub site: u64,
    /// What it does.
    pub act: OperationKind,
    /// The lock, or the first byte of the memory.
    pub operand: u64,
    /// How many bytes of memory; 0 for what is no memory.
    pub len: u64,
}

impl Operation {
    /// What an event does. The wait on a condition releases its mutex, and its end takes it again. Events that only
    /// name memory do nothing.
    pub fn of(event: &Event) -> Option<Operation> {
        use EventKind::*;
        let kind = event.kind()?;
        let site = event.pc;
        if let Some(touch) = AccessedBytes::of(event, kind) {
            let act = match (touch.atomic, touch.writes) {
                (false, false) => OperationKind::Read,
                (false, true) => OperationKind::Write,
                (true, false) => OperationKind::AtomicRead,
                (true, true) => OperationKind::AtomicWrite,
            };
            return Some(Operation { site, act, operand: touch.addr, len: touch.len });
        }
        let other = |operand: u64| (OperationKind::Other(kind as u8), operand);
        let (act, operand) = match kind {
            Lock => (OperationKind::Lock, event.addr),
            ReadLock => (OperationKind::ReadLock, event.addr),
            Unlock => (OperationKind::Unlock, event.addr),
            CondWait => (OperationKind::Unlock, event.value),
            CondWake | CondTimeout => (OperationKind::Lock, event.value),
            Alloc | Frame => return None,
            // What a creation or a join is about is a thread, and its own stack says nothing of a start.
            Create | Join | JoinFailed | Detach => other(event.value),
            Start | Exit => other(0),
            Free | Fence | Signal | Cancel | LockFailed | CondSignal | CondBroadcast => other(event.addr),
            kinds!(plain | atomic | barrier | semaphore | once | futex | object | pause | outside) => {
                other(event.addr)
            }
        };
        Some(Operation { site, act, operand, len: 0 })
    }

    /// Whether both access the same memory.
    pub fn overlaps(&self, other: &Operation) -> bool {
        let is_disjoint = self.operand.saturating_add(self.len) <= other.operand
            || other.operand.saturating_add(other.len) <= self.operand;
        self.act.accesses() && other.act.accesses() && !is_disjoint
    }
}
