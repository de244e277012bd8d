//! What a step does, as far as its order with the steps of other threads matters.
//!
//! Two executions of a thread that make the same actions are in the same state: an action holds what the thread
//! could observe, and nothing that it could not (how many threads waited when it signalled, say).

use threadbare_trace::{Event, EventKind, LockManner, ThreadId};

/// A stretch of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MemoryRange {
    /// Its first byte.
    pub addr: u64,
    /// How many bytes.
    pub len: u64,
}

impl MemoryRange {
    /// The bit that no address of a program has: a word there stands for something that threads tell each other otherwise.
    pub(crate) const ELSEWHERE: u64 = 1 << 63;

    /// Whether the program can access it.
    pub fn is_memory(&self) -> bool {
        self.addr & Self::ELSEWHERE == 0
    }

    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.addr.saturating_add(self.len)
    }
}

/// Things whose operations are kept in the order in which they were recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kept {
    /// The sleepers on a futex word.
    Futex(u64),
    /// A condition variable on which a wait ended without a signal.
    Condition(u64),
    /// A semaphore that somebody failed to take.
    Semaphore(u64),
    /// A lock that was refused to somebody although nobody held it, or that tells what became of its last owner.
    Lock(u64),
    /// A descriptor.
    Descriptor(u64),
    /// Memory that changes although nobody is seen to write it.
    Memory(u64),
    /// The creation of threads by several threads: it decides how they are numbered.
    Creation,
}

/// Whether memory is only read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessMode {
    /// It is.
    Reads,
    /// It is written.
    Writes,
}

/// One thing that a step does. A step does more than one only if no other thread can be scheduled in between.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Reads memory, and sees this; what is longer than eight bytes is not known.
    Read(MemoryRange, Option<u64>),
    /// Writes memory.
    Write(MemoryRange, Option<u64>),
    /// Reads a value and replaces it, both at once.
    Update(MemoryRange, Option<u64>, Option<u64>),
    /// Accesses memory, and nothing that a thread does depends on what is there.
    Touch(MemoryRange, AccessMode),
    /// Frees a heap block.
    Free(MemoryRange),
    /// Takes a lock, alone or with others.
    Acquire {
        /// The lock.
        lock: u64,
        /// With other readers.
        shared: bool,
        /// It would not have waited for ever: a try-lock or a timed one.
        tries: bool,
    },
    /// Releases a lock.
    Release(u64),
    /// Wants a lock and does not get it.
    Refused(u64),
    /// Begins to wait on a condition, and releases the mutex.
    Wait {
        /// The condition variable.
        condition: u64,
        /// The mutex.
        mutex: u64,
    },
    /// Was signalled, and has the mutex again.
    Wake {
        /// The condition variable.
        condition: u64,
        /// The mutex.
        mutex: u64,
    },
    /// Waits no longer although nobody signalled, and has the mutex again.
    Timeout {
        /// The condition variable.
        condition: u64,
        /// The mutex.
        mutex: u64,
    },
    /// Signals one waiter, or all.
    Signal {
        /// The condition variable.
        condition: u64,
        /// All of them.
        all: bool,
    },
    /// Arrives at a barrier.
    Arrive(u64),
    /// Leaves a barrier, in this of its rounds.
    Leave(u64, u64),
    /// Takes a token of a semaphore.
    Take(u64),
    /// Adds a token to a semaphore.
    Post(u64),
    /// Finds a semaphore without tokens.
    Empty(u64),
    /// Creates a thread.
    Create(ThreadId),
    /// Begins to run this routine.
    Start(u64),
    /// Ends.
    Exit,
    /// Sees that a thread has ended.
    Join(ThreadId),
    /// Sees that a thread has not ended.
    Unended(ThreadId),
    /// Initialises or destroys a synchronization object.
    Renew {
        /// The object.
        object: u64,
        /// It is destroyed.
        ends: bool,
    },
    /// Does something to a thing that is only known to be in this state if everything was done to it in the same
    /// order; the number distinguishes outcomes.
    Keep(Kept, u64),
    /// Does something that may depend on everything before it.
    Watershed(EventKind, u64),
    /// Does nothing that others can notice.
    Idle(EventKind),
}

fn extent(event: &Event, len: u64) -> MemoryRange {
    MemoryRange { addr: event.addr, len: len.max(1).min(u64::MAX - event.addr) }
}

impl Action {
    /// What an event says its thread did. Events that only name memory say nothing.
    pub fn of(event: &Event) -> Option<Action> {
        use EventKind::*;
        let kind = event.kind()?;
        let Event { addr, value, old, .. } = *event;
        let place = extent(event, u64::from(event.size));
        // Of a longer atomic only the low half is recorded.
        let known = |value: u64| (place.len <= 8).then_some(value);
        Some(match kind {
            Read | AtomicRead | AtomicFailed => Action::Read(place, known(value)),
            Write | AtomicWrite => Action::Write(place, known(value)),
            AtomicUpdate => Action::Update(place, known(old), known(value)),
            ReadRange => Action::Read(extent(event, value), None),
            WriteRange => Action::Write(extent(event, value), None),
            Free => Action::Free(extent(event, value)),
            Lock | ReadLock => {
                let tries = LockManner::from_number(old).would_not_wait;
                Action::Acquire { lock: addr, shared: kind == ReadLock, tries }
            }
            Unlock => Action::Release(addr),
            LockFailed => Action::Refused(addr),
            CondWait => Action::Wait { condition: addr, mutex: value },
            CondWake => Action::Wake { condition: addr, mutex: value },
            CondTimeout => Action::Timeout { condition: addr, mutex: value },
            CondSignal => Action::Signal { condition: addr, all: false },
            CondBroadcast => Action::Signal { condition: addr, all: true },
            BarrierArrive => Action::Arrive(addr),
            BarrierLeave => Action::Leave(addr, value),
            SemWait => Action::Take(addr),
            SemPost => Action::Post(addr),
            SemFailed => Action::Empty(addr),
            // A routine that runs once is a critical section; `Reading` adds what is known of it.
            OnceBegin | OnceSeen => Action::Acquire { lock: addr, shared: false, tries: false },
            OnceEnd => Action::Release(addr),
            // A refused wait has only read the word; `Reading` adds that to all of them.
            FutexWait if value == 1 => Action::Idle(kind),
            FutexWait | FutexWoken | FutexTimeout | FutexWake => {
                Action::Keep(Kept::Futex(addr), (kind as u64) << 32 | value)
            }
            Create => Action::Create(ThreadId(value as u16)),
            Start => Action::Start(old),
            Exit => Action::Exit,
            Join => Action::Join(ThreadId(value as u16)),
            JoinFailed => Action::Unended(ThreadId(value as u16)),
            Init | Destroy => Action::Renew { object: addr, ends: kind == Destroy },
            Io => Action::Keep(Kept::Descriptor(addr), value),
            // A handler begins; that its thread does not run meanwhile is not modelled here.
            Signal if old != 0 => Action::Idle(kind),
            Cancel | Signal | Process | End => Action::Watershed(kind, value),
            Fence | Detach | Yield | Sleep => Action::Idle(kind),
            // That a library was called is a note beside the steps.
            Alloc | Frame | LibraryCall => return None,
        })
    }

    /// The same, if nothing depends on the values that it reads or writes.
    pub(crate) fn without_values(self) -> Action {
        match self {
            Action::Read(extent, _) => Action::Touch(extent, AccessMode::Reads),
            Action::Write(extent, _) | Action::Update(extent, ..) => {
                Action::Touch(extent, AccessMode::Writes)
            }
            // No other action holds a value that was in memory.
            other => other,
        }
    }

    /// The memory that it accesses, whether or not it matters what is there.
    pub fn accesses(&self) -> Option<(MemoryRange, AccessMode)> {
        use Action::*;
        match *self {
            Read(extent, _) => Some((extent, AccessMode::Reads)),
            Write(extent, _) | Update(extent, ..) => Some((extent, AccessMode::Writes)),
            Touch(extent, access) => Some((extent, access)),
            Free(_) | Acquire { .. } | Release(_) | Refused(_) | Wait { .. } | Wake { .. } => None,
            Timeout { .. } | Signal { .. } | Arrive(_) | Leave(..) | Take(_) | Post(_) | Empty(_) => None,
            Create(_) | Start(_) | Exit | Join(_) | Unended(_) => None,
            Renew { .. } | Keep(..) | Watershed(..) | Idle(_) => None,
        }
    }

    /// The memory it reads, and what it sees there.
    pub fn read(&self) -> Option<(MemoryRange, Option<u64>)> {
        use Action::*;
        match *self {
            Read(extent, value) | Update(extent, value, _) => Some((extent, value)),
            Write(..) | Touch(..) | Free(_) | Acquire { .. } | Release(_) | Refused(_) => None,
            Wait { .. } | Wake { .. } | Timeout { .. } | Signal { .. } | Arrive(_) | Leave(..) => None,
            Take(_) | Post(_) | Empty(_) | Create(_) | Start(_) | Exit | Join(_) | Unended(_) => None,
            Renew { .. } | Keep(..) | Watershed(..) | Idle(_) => None,
        }
    }

    /// The memory it writes, and what it leaves there.
    pub fn write(&self) -> Option<(MemoryRange, Option<u64>)> {
        use Action::*;
        match *self {
            Write(extent, value) | Update(extent, _, value) => Some((extent, value)),
            Free(extent) => Some((extent, None)),
            Read(..) | Touch(..) | Acquire { .. } | Release(_) | Refused(_) => None,
            Wait { .. } | Wake { .. } | Timeout { .. } | Signal { .. } | Arrive(_) | Leave(..) => None,
            Take(_) | Post(_) | Empty(_) | Create(_) | Start(_) | Exit | Join(_) | Unended(_) => None,
            Renew { .. } | Keep(..) | Watershed(..) | Idle(_) => None,
        }
    }

    /// The synchronization object it is about.
    pub fn object(&self) -> Option<u64> {
        use Action::*;
        match *self {
            Acquire { lock, .. } | Release(lock) | Refused(lock) => Some(lock),
            Wait { condition, .. }
            | Wake { condition, .. }
            | Timeout { condition, .. }
            | Signal { condition, .. } => Some(condition),
            Arrive(object) | Leave(object, _) | Take(object) | Post(object) | Empty(object) => Some(object),
            Renew { object, .. } => Some(object),
            Read(..) | Write(..) | Update(..) | Touch(..) | Free(_) => None,
            Create(_) | Start(_) | Exit | Join(_) | Unended(_) => None,
            Keep(..) | Watershed(..) | Idle(_) => None,
        }
    }

    /// The mutex that a wait on a condition releases or acquires again.
    pub fn mutex(&self) -> Option<u64> {
        use Action::*;
        match *self {
            Wait { mutex, .. } | Wake { mutex, .. } | Timeout { mutex, .. } => Some(mutex),
            Read(..) | Write(..) | Update(..) | Touch(..) | Free(_) => None,
            Acquire { .. } | Release(_) | Refused(_) | Signal { .. } | Arrive(_) | Leave(..) => None,
            Take(_) | Post(_) | Empty(_) | Create(_) | Start(_) | Exit | Join(_) | Unended(_) => None,
            Renew { .. } | Keep(..) | Watershed(..) | Idle(_) => None,
        }
    }

    /// The memory or object whose lifetime it begins or ends, and whether it ends it.
    pub fn lifetime_change(&self) -> Option<(MemoryRange, bool)> {
        use Action::*;
        match *self {
            Free(block) => Some((block, true)),
            Renew { object, ends } => Some((MemoryRange { addr: object, len: 1 }, ends)),
            Read(..) | Write(..) | Update(..) | Touch(..) => None,
            Acquire { .. } | Release(_) | Refused(_) | Wait { .. } | Wake { .. } | Timeout { .. } => None,
            Signal { .. } | Arrive(_) | Leave(..) | Take(_) | Post(_) | Empty(_) => None,
            Create(_) | Start(_) | Exit | Join(_) | Unended(_) | Keep(..) | Watershed(..) | Idle(_) => None,
        }
    }
}
