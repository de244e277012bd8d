//! What a step does that others can notice.

use threadbare_trace::{Event, EventKind, ThreadId};

/// Things whose operations stay in the order in which they were recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Kept {
    Object(u64),
    Descriptor(u64),
    Creation,
    World,
}

/// One thing that a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    /// Accesses a shared variable, which had been written so often before the step was made.
    Access {
        variable: usize,
        version: u32,
        writes: bool,
    },
    /// Takes a lock; `tries` if it would rather have gone without.
    Lock {
        lock: u64,
        shared: bool,
        tries: bool,
    },
    Unlock {
        lock: u64,
    },
    /// Wanted a lock and did not get it.
    Refused {
        lock: u64,
    },
    /// Gives the mutex back and waits.
    Wait {
        condition: u64,
        mutex: u64,
    },
    /// Was notified and has the mutex again.
    Wake {
        condition: u64,
        mutex: u64,
    },
    Notify {
        condition: u64,
        all: bool,
    },
    Take {
        semaphore: u64,
    },
    Post {
        semaphore: u64,
    },
    /// Found a semaphore without tokens.
    Empty {
        semaphore: u64,
    },
    Arrive {
        barrier: u64,
    },
    Leave {
        barrier: u64,
        round: u64,
    },
    Join {
        thread: ThreadId,
    },
    Keep(Kept),
    /// Nothing but a moment that others may have to wait for.
    Marks,
}

impl Deed {
    pub(super) fn lock(&self) -> Option<u64> {
        match *self {
            Deed::Lock { lock, .. } | Deed::Unlock { lock } | Deed::Refused { lock } => Some(lock),
            Deed::Wait { mutex, .. } | Deed::Wake { mutex, .. } => Some(mutex),
            _ => None,
        }
    }

    pub(super) fn condition(&self) -> Option<u64> {
        match *self {
            Deed::Wait { condition, .. } | Deed::Wake { condition, .. } | Deed::Notify { condition, .. } => {
                Some(condition)
            }
            _ => None,
        }
    }

    /// The object by which it meets the deeds of others, and whether it changes it.
    pub(super) fn object(&self) -> Option<(u64, bool)> {
        match *self {
            Deed::Take { semaphore } | Deed::Post { semaphore } | Deed::Empty { semaphore } => {
                Some((semaphore, true))
            }
            _ => self.lock().or(self.condition()).map(|object| (object, true)),
        }
    }

    /// Whether it takes something away that others may wait for.
    pub(super) fn takes(&self) -> bool {
        matches!(self, Deed::Lock { .. } | Deed::Wake { .. } | Deed::Take { .. } | Deed::Keep(_))
    }
}

/// What an event does, accesses to memory aside.
pub(super) fn deed(event: &Event, kind: EventKind) -> Option<Deed> {
    use EventKind::*;
    let Event { addr, value, old, .. } = *event;
    Some(match kind {
        Lock | ReadLock => Deed::Lock { lock: addr, shared: kind == ReadLock, tries: old == 1 },
        Unlock => Deed::Unlock { lock: addr },
        LockFailed => Deed::Refused { lock: addr },
        CondWait => Deed::Wait { condition: addr, mutex: value },
        CondWake => Deed::Wake { condition: addr, mutex: value },
        CondSignal | CondBroadcast => Deed::Notify { condition: addr, all: kind == CondBroadcast },
        SemWait => Deed::Take { semaphore: addr },
        SemPost => Deed::Post { semaphore: addr },
        SemFailed => Deed::Empty { semaphore: addr },
        BarrierArrive => Deed::Arrive { barrier: addr },
        BarrierLeave => Deed::Leave { barrier: addr, round: value },
        Join => Deed::Join { thread: ThreadId(value as u16) },
        CondTimeout | OnceBegin | OnceEnd | OnceSeen | FutexWait | FutexWoken | FutexTimeout | FutexWake => {
            Deed::Keep(Kept::Object(addr))
        }
        Io => Deed::Keep(Kept::Descriptor(addr)),
        Create => Deed::Keep(Kept::Creation),
        JoinFailed | Cancel | Signal | Process => Deed::Keep(Kept::World),
        Exit => Deed::Marks,
        _ => return None,
    })
}
