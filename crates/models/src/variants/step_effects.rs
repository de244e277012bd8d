//! What a step does that others can notice.

use threadbare_trace::{Event, EventKind, LockManner, ThreadId, kinds};

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
pub(super) enum StepEffect {
    /// Accesses a shared variable, which had been written so often before the step was made.
    Access {
        variable: usize,
        version: u32,
        writes: bool,
    },
    /// Changes a shared variable, and does not learn what it was.
    Counts {
        variable: usize,
    },
    /// Takes a lock; `tries` if it would not have waited for ever.
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
    /// Releases the mutex and waits.
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
    /// Nothing but a point in time that others may have to wait for.
    Marks,
}

impl StepEffect {
    pub(super) fn lock(&self) -> Option<u64> {
        use StepEffect::*;
        match *self {
            Lock { lock, .. } | Unlock { lock } | Refused { lock } => Some(lock),
            Wait { mutex, .. } | Wake { mutex, .. } => Some(mutex),
            Access { .. } | Counts { .. } | Notify { .. } | Take { .. } | Post { .. } | Empty { .. } => None,
            Arrive { .. } | Leave { .. } | Join { .. } | Keep(_) | Marks => None,
        }
    }

    pub(super) fn condition(&self) -> Option<u64> {
        use StepEffect::*;
        match *self {
            Wait { condition, .. } | Wake { condition, .. } | Notify { condition, .. } => Some(condition),
            Access { .. } | Counts { .. } | Lock { .. } | Unlock { .. } | Refused { .. } => None,
            Take { .. } | Post { .. } | Empty { .. } | Arrive { .. } | Leave { .. } => None,
            Join { .. } | Keep(_) | Marks => None,
        }
    }

    /// The object by which it depends on the effects of others, and whether it changes it.
    pub(super) fn object(&self) -> Option<(u64, bool)> {
        use StepEffect::*;
        match *self {
            Take { semaphore } | Post { semaphore } | Empty { semaphore } => Some((semaphore, true)),
            Lock { .. } | Unlock { .. } | Refused { .. } | Wait { .. } | Wake { .. } | Notify { .. } => {
                self.lock().or(self.condition()).map(|object| (object, true))
            }
            Access { .. } | Counts { .. } | Arrive { .. } | Leave { .. } | Join { .. } => None,
            Keep(_) | Marks => None,
        }
    }

    /// Whether it takes something away that others may wait for.
    pub(super) fn takes(&self) -> bool {
        use StepEffect::*;
        match self {
            Lock { .. } | Wake { .. } | Take { .. } | Keep(_) => true,
            Access { .. } | Counts { .. } | Unlock { .. } | Refused { .. } | Wait { .. } => false,
            Notify { .. } => false,
            Post { .. } | Empty { .. } | Arrive { .. } | Leave { .. } | Join { .. } | Marks => false,
        }
    }
}

/// What has to stay in its order although the event's effect could be put elsewhere: what a lock tells about its last owner.
pub(super) fn kept_besides(event: &Event, kind: EventKind) -> Option<StepEffect> {
    let is_robust = kind == EventKind::Lock && LockManner::from_number(event.old).is_robust;
    is_robust.then_some(StepEffect::Keep(Kept::Object(event.addr)))
}

/// The synchronization objects that an event uses, and whether their lives begin or end with it.
pub(super) fn objects(event: &Event, kind: EventKind) -> impl Iterator<Item = (u64, bool)> {
    use EventKind::*;
    let (object, mutex) = match kind {
        Init | Destroy => (Some((event.addr, true)), None),
        CondWait | CondWake | CondTimeout => (Some((event.addr, false)), Some((event.value, false))),
        CondSignal | CondBroadcast | kinds!(lock | barrier | semaphore | once) => {
            (Some((event.addr, false)), None)
        }
        Fence | Signal | Frame | kinds!(plain | atomic | futex | thread | heap | pause | outside) => {
            (None, None)
        }
    };
    object.into_iter().chain(mutex)
}

/// What an event does, accesses to memory aside.
pub(super) fn effect_of(event: &Event, kind: EventKind) -> Option<StepEffect> {
    use EventKind::*;
    let Event { addr, value, old, .. } = *event;
    Some(match kind {
        Lock | ReadLock => {
            let tries = LockManner::from_number(old).would_not_wait;
            StepEffect::Lock { lock: addr, shared: kind == ReadLock, tries }
        }
        Unlock => StepEffect::Unlock { lock: addr },
        LockFailed => StepEffect::Refused { lock: addr },
        CondWait => StepEffect::Wait { condition: addr, mutex: value },
        CondWake => StepEffect::Wake { condition: addr, mutex: value },
        CondSignal | CondBroadcast => StepEffect::Notify { condition: addr, all: kind == CondBroadcast },
        SemWait => StepEffect::Take { semaphore: addr },
        SemPost => StepEffect::Post { semaphore: addr },
        SemFailed => StepEffect::Empty { semaphore: addr },
        BarrierArrive => StepEffect::Arrive { barrier: addr },
        BarrierLeave => StepEffect::Leave { barrier: addr, round: value },
        Join => StepEffect::Join { thread: ThreadId(value as u16) },
        CondTimeout | OnceBegin | OnceEnd | OnceSeen | FutexWait | FutexWoken | FutexTimeout | FutexWake => {
            StepEffect::Keep(Kept::Object(addr))
        }
        Io => StepEffect::Keep(Kept::Descriptor(addr)),
        Create => StepEffect::Keep(Kept::Creation),
        JoinFailed | Cancel | Signal | Process | End => StepEffect::Keep(Kept::World),
        Exit => StepEffect::Marks,
        Start
        | Detach
        | Fence
        | Alloc
        | Frame
        | LibraryCall
        | Free
        | kinds!(plain | atomic | object | pause) => {
            return None;
        }
    })
}
