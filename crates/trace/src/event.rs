//! Events: one step of one thread, as the runtime writes it into shared memory.

use std::fmt;

/// A thread of the tested program. Main is 0; the others are numbered in order of creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct ThreadId(pub u16);

impl ThreadId {
    /// The program's first thread.
    pub const MAIN: ThreadId = ThreadId(0);

    /// The thread's place in a table of threads.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{}", self.0)
    }
}

macro_rules! event_kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal => $word:literal,)*) => {
        /// What a step does. The numbers are part of the shared-memory layout.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum EventKind { $($(#[$doc])* $name = $number,)* }

        impl EventKind {
            /// Every kind, in the order of their numbers.
            pub const ALL: &[EventKind] = &[$(EventKind::$name),*];

            /// The kind with this number, if there is one.
            pub fn from_number(number: u8) -> Option<EventKind> {
                match number { $($number => Some(EventKind::$name),)* _ => None }
            }

            /// The word shown to people.
            pub fn word(self) -> &'static str {
                match self { $(EventKind::$name => $word,)* }
            }
        }
    };
}

event_kinds! {
    /// A plain read; `value` is what was read.
    Read = 1 => "read",
    /// A plain write; `old` → `value`.
    Write = 2 => "write",
    /// An atomic load.
    AtomicRead = 3 => "load",
    /// An atomic store.
    AtomicWrite = 4 => "store",
    /// An atomic read-modify-write, or a compare-exchange that succeeded.
    AtomicUpdate = 5 => "update",
    /// A compare-exchange that failed: it only read.
    AtomicFailed = 6 => "compare failed",
    /// A memory fence.
    Fence = 7 => "fence",
    /// A read of a whole range; `value` is its length.
    ReadRange = 8 => "read range",
    /// A write of a whole range; `value` is its length.
    WriteRange = 9 => "write range",
    /// A mutex or write lock was acquired; `value` is the depth of a recursive lock, `old` says in which [`LockManner`].
    Lock = 10 => "lock",
    /// A mutex, read or write lock was released.
    Unlock = 11 => "unlock",
    /// A try-lock, or a timed lock whose time ran out, that did not get the lock.
    LockFailed = 12 => "lock failed",
    /// A read lock was acquired; `old` as for `Lock`.
    ReadLock = 13 => "read lock",
    /// A condition wait began: the mutex (`value`) was released.
    CondWait = 14 => "wait",
    /// A condition wait ended by a signal and the mutex (`value`) was taken again.
    CondWake = 15 => "wake",
    /// A condition wait ended by its time running out.
    CondTimeout = 16 => "wait timed out",
    /// A condition signal; `value` is the number of threads waiting.
    CondSignal = 17 => "signal",
    /// A condition broadcast; `value` is the number of threads waiting.
    CondBroadcast = 18 => "broadcast",
    /// Arrival at a barrier.
    BarrierArrive = 19 => "barrier arrive",
    /// Departure from a barrier.
    BarrierLeave = 20 => "barrier leave",
    /// A semaphore was taken; `value` is what is left.
    SemWait = 21 => "sem wait",
    /// A semaphore was raised; `value` is the new value.
    SemPost = 22 => "sem post",
    /// A try or timed semaphore wait that got nothing.
    SemFailed = 23 => "sem failed",
    /// The thread runs a once-routine.
    OnceBegin = 24 => "once begin",
    /// The once-routine is done, or was left before its end (`value` = 1).
    OnceEnd = 25 => "once end",
    /// The once-routine had been run before.
    OnceSeen = 26 => "once seen",
    /// A futex wait began (or was refused because the word had changed, `value` = 1).
    FutexWait = 27 => "futex wait",
    /// A futex wait ended by a wake.
    FutexWoken = 28 => "futex woken",
    /// A futex wait ended by its time running out.
    FutexTimeout = 29 => "futex timed out",
    /// A futex wake; `value` is the number of threads woken.
    FutexWake = 30 => "futex wake",
    /// A thread was created; `value` is its number, `addr` what its routine is given. If `old` is not zero, a signal of
    /// this number was sent: the thread is its handler.
    Create = 31 => "create",
    /// A thread began to run; `addr` and `value` bound its stack, `old` is its routine.
    Start = 32 => "start",
    /// A thread ended; `value` is its result.
    Exit = 33 => "exit",
    /// A thread was joined; `value` is its number, `size` is not zero if its result was asked for. If `old` is not zero, it is
    /// the handler of that signal, or the signal was taken without one.
    Join = 34 => "join",
    /// A thread was detached; `value` is its number.
    Detach = 35 => "detach",
    /// A join that did not succeed (try or timed).
    JoinFailed = 36 => "join failed",
    /// A heap block was allocated; `value` is its size, `old` its ordinal at this site and thread.
    /// It comes before the first step that accesses the block, not where the program allocated it.
    Alloc = 37 => "allocate",
    /// A heap block was freed.
    Free = 38 => "free",
    /// The thread yielded.
    Yield = 39 => "yield",
    /// The thread slept; `value` is the virtual time in nanoseconds.
    Sleep = 40 => "sleep",
    /// An operation on a descriptor; `addr` is the descriptor.
    Io = 41 => "i/o",
    /// A thread was asked to cancel; `value` is its number.
    Cancel = 42 => "cancel",
    /// A synchronization object was initialised.
    Init = 43 => "init",
    /// A synchronization object was destroyed.
    Destroy = 44 => "destroy",
    /// A signal handler was entered; `value` is the signal, `old` is one more than the number of the thread that
    /// it interrupts.
    Signal = 45 => "signal handler",
    /// A process-wide operation such as `fork` or `waitpid`.
    Process = 46 => "process",
    /// Where a call's variables are: from `value` up to `addr`; `pc` is in the function. It comes
    /// before the first step that accesses them.
    Frame = 47 => "frame",
    /// The thread ends the process. It is the last step, and none that is recorded: it waits until the others have made
    /// theirs.
    End = 48 => "end",
    /// A function of a library without instrumentation was called: `addr` is the function, and `value` what it may synchronize by with other
    /// such calls: where the library is loaded, or an object that it counts. What it does is not seen. If `old` is not zero, the thread is the
    /// library's own: its routine is there, and calls the program. It is a note beside the steps of a thread.
    LibraryCall = 49 => "library call",
}

/// How a lock was acquired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LockManner {
    /// The thread would not have waited for ever: a try-lock or a timed one.
    pub would_not_wait: bool,
    /// The lock tells its next owner if the one before ended without releasing it.
    pub is_robust: bool,
    /// It did.
    pub owner_died: bool,
}

impl LockManner {
    /// As an event has it.
    pub fn to_number(self) -> u64 {
        u64::from(self.would_not_wait) | u64::from(self.is_robust) << 1 | u64::from(self.owner_died) << 2
    }

    /// What an event has.
    pub fn from_number(number: u64) -> LockManner {
        let has = |bit: u64| number & bit != 0;
        LockManner { would_not_wait: has(1), is_robust: has(2), owner_died: has(4) }
    }
}

/// All kinds of one group or several (`kinds!(lock | once)`), as a pattern.
///
/// A `match` over kinds names those it distinguishes one by one and the groups it does not care about by this macro, never by
/// `_`: a new kind then is an error wherever its group is distinguished, and here in [`EventKind::accesses_memory`] and its
/// neighbours if it has no group. Every kind is in one group, or is alone in its own: `Fence`, `Signal` and `Frame`.
#[macro_export]
macro_rules! kinds {
    (plain) => {
        $crate::EventKind::Read
            | $crate::EventKind::Write
            | $crate::EventKind::ReadRange
            | $crate::EventKind::WriteRange
    };
    (atomic) => {
        $crate::EventKind::AtomicRead
            | $crate::EventKind::AtomicWrite
            | $crate::EventKind::AtomicUpdate
            | $crate::EventKind::AtomicFailed
    };
    (lock) => {
        $crate::EventKind::Lock
            | $crate::EventKind::Unlock
            | $crate::EventKind::LockFailed
            | $crate::EventKind::ReadLock
    };
    (condition) => {
        $crate::EventKind::CondWait
            | $crate::EventKind::CondWake
            | $crate::EventKind::CondTimeout
            | $crate::EventKind::CondSignal
            | $crate::EventKind::CondBroadcast
    };
    (barrier) => {
        $crate::EventKind::BarrierArrive | $crate::EventKind::BarrierLeave
    };
    (semaphore) => {
        $crate::EventKind::SemWait | $crate::EventKind::SemPost | $crate::EventKind::SemFailed
    };
    (once) => {
        $crate::EventKind::OnceBegin | $crate::EventKind::OnceEnd | $crate::EventKind::OnceSeen
    };
    (futex) => {
        $crate::EventKind::FutexWait
            | $crate::EventKind::FutexWoken
            | $crate::EventKind::FutexTimeout
            | $crate::EventKind::FutexWake
    };
    (thread) => {
        $crate::EventKind::Create
            | $crate::EventKind::Start
            | $crate::EventKind::Exit
            | $crate::EventKind::Join
            | $crate::EventKind::Detach
            | $crate::EventKind::JoinFailed
            | $crate::EventKind::Cancel
    };
    (heap) => {
        $crate::EventKind::Alloc | $crate::EventKind::Free
    };
    (object) => {
        $crate::EventKind::Init | $crate::EventKind::Destroy
    };
    (pause) => {
        $crate::EventKind::Yield | $crate::EventKind::Sleep
    };
    (outside) => {
        $crate::EventKind::Io
            | $crate::EventKind::Process
            | $crate::EventKind::End
            | $crate::EventKind::LibraryCall
    };
    ($first:ident | $($more:ident)|+) => {
        $crate::kinds!($first) | $crate::kinds!($($more)|+)
    };
}

impl EventKind {
    /// Whether the step may change the memory at `addr` (or free it).
    pub fn writes(self) -> bool {
        use EventKind::*;
        match self {
            Write | AtomicWrite | AtomicUpdate | WriteRange | Free => true,
            Read | ReadRange | AtomicRead | AtomicFailed | Alloc => false,
            kinds!(lock | condition | barrier | semaphore | once | futex | thread) => false,
            Fence | Signal | Frame | kinds!(object | pause | outside) => false,
        }
    }

    /// Whether this is no step but says what memory is called; its thread is the memory's owner, who
    /// need not be running.
    pub fn only_names(self) -> bool {
        use EventKind::*;
        match self {
            Alloc | Frame => true,
            Free | Fence | Signal | kinds!(plain | atomic | lock | condition | barrier | semaphore) => false,
            kinds!(once | futex | thread | object | pause | outside) => false,
        }
    }

    /// Whether the step orders threads whatever they read from memory and whoever takes a lock first. Where functions that can
    /// run concurrently are looked for, a thread's time is the number of such steps that it has made.
    pub fn orders_threads(self) -> bool {
        use EventKind::*;
        match self {
            Create | Join | BarrierArrive | BarrierLeave => true,
            Start | Exit | Detach | JoinFailed | Cancel | Signal => false,
            Fence | Frame | kinds!(plain | atomic | lock | condition | semaphore | once | futex) => false,
            kinds!(heap | object | pause | outside) => false,
        }
    }

    /// Whether the step acquires a lock, alone or with other readers. The end of a condition wait, which acquires the mutex again,
    /// is about the condition.
    pub fn acquires_lock(self) -> bool {
        use EventKind::*;
        match self {
            Lock | ReadLock => true,
            Unlock | LockFailed | Fence | Signal | Frame => false,
            kinds!(plain | atomic | condition | barrier | semaphore | once | futex) => false,
            kinds!(thread | heap | object | pause | outside) => false,
        }
    }

    /// Whether the step reads one value from memory, which is in `old`.
    pub fn reads_value(self) -> bool {
        use EventKind::*;
        match self {
            Read | AtomicRead | AtomicUpdate | AtomicFailed => true,
            Write | AtomicWrite | ReadRange | WriteRange | Fence | Signal | Frame => false,
            kinds!(lock | condition | barrier | semaphore | once | futex) => false,
            kinds!(thread | heap | object | pause | outside) => false,
        }
    }

    /// Whether the step reads one value from memory and does nothing else: it neither replaces nor compares it.
    pub fn only_reads_value(self) -> bool {
        use EventKind::*;
        match self {
            Read | AtomicRead => true,
            Write | ReadRange | WriteRange | AtomicWrite | AtomicUpdate | AtomicFailed => false,
            Fence | Signal | Frame | kinds!(lock | condition | barrier | semaphore | once | futex) => false,
            kinds!(thread | heap | object | pause | outside) => false,
        }
    }

    /// Whether the step leaves one value in memory, which is in `value`.
    pub fn writes_value(self) -> bool {
        use EventKind::*;
        match self {
            Write | AtomicWrite | AtomicUpdate => true,
            Read | ReadRange | WriteRange | AtomicRead | AtomicFailed => false,
            Fence | Signal | Frame | kinds!(lock | condition | barrier | semaphore | once | futex) => false,
            kinds!(thread | heap | object | pause | outside) => false,
        }
    }

    /// Whether the step accesses a whole range of memory, whose length is in `value`.
    pub fn accesses_range(self) -> bool {
        use EventKind::*;
        match self {
            ReadRange | WriteRange => true,
            Read | Write | Fence | Signal | Frame | kinds!(atomic | lock | condition | barrier) => false,
            kinds!(semaphore | once | futex | thread | heap | object | pause | outside) => false,
        }
    }

    /// Whether the step reads or writes program memory (rather than synchronizing otherwise).
    pub fn accesses_memory(self) -> bool {
        use EventKind::*;
        match self {
            Free | kinds!(plain | atomic) => true,
            Alloc | Fence | Signal | Frame | kinds!(lock | condition | barrier | semaphore | once) => false,
            kinds!(futex | thread | object | pause | outside) => false,
        }
    }
}

/// One step of one thread. The layout is shared with the runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Event {
    /// The return address of the call that announced the step.
    pub pc: u64,
    /// The memory location or synchronization object.
    pub addr: u64,
    /// The value read, or the value after a write; see [`EventKind`] for the others.
    pub value: u64,
    /// The value before a write; see [`EventKind`] for the others.
    pub old: u64,
    /// Which operation of its thread this is, counted from 1, private accesses included.
    pub op: u32,
    /// The thread that made the step.
    pub thread: ThreadId,
    /// The number of an [`EventKind`].
    pub kind: u8,
    /// The size of the access in bytes.
    pub size: u8,
    /// The calls in progress, as a number in the execution's table of contexts; 0 for none.
    pub context: u32,
    /// What else there is to say: [`Event::VOLATILE`], [`Event::ACQUIRES_NOT`], [`Event::RELEASES_NOT`], [`Event::IGNORED`], and a hash of the thread's state, see [`Event::state_hash`]. Files do not keep it.
    pub flags: u32,
}

impl Event {
    /// The program has declared what it accesses as `volatile`.
    pub const VOLATILE: u32 = 1;

    /// An atomic step or a fence after which its thread need not see what others did before.
    pub const ACQUIRES_NOT: u32 = 2;

    /// An atomic step or a fence after which others need not see what its thread did before.
    pub const RELEASES_NOT: u32 = 4;

    /// The program asks race detectors not to look at this access.
    pub const IGNORED: u32 = 8;

    /// The lowest bit of the hash of the thread's state.
    pub const STATE_HASH: u32 = 4;

    /// Whether the step only records that a signal handler begins, or what a thread's mask lets through.
    pub fn is_about_delivery(&self) -> bool {
        use EventKind::*;
        let Some(kind) = self.kind() else { return false };
        match kind {
            Signal => true,
            Start => self.addr == self.value,
            Lock | ReadLock | Unlock | OnceSeen => crate::SignalMask::at(self.addr).is_some(),
            LockFailed | OnceBegin | OnceEnd => false,
            Create | Exit | Join | Detach | JoinFailed | Cancel => false,
            Fence | Frame | kinds!(plain | atomic | condition | barrier | semaphore | futex) => false,
            kinds!(heap | object | pause | outside) => false,
        }
    }

    /// What a semaphore held before this step, if the step is about one.
    pub fn tokens_before(&self) -> Option<u64> {
        use EventKind::*;
        match self.kind()? {
            SemWait => Some(self.value.saturating_add(1)),
            SemPost => Some(self.value.saturating_sub(1)),
            SemFailed => Some(0),
            Fence | Signal | Frame | kinds!(plain | atomic | lock | condition | barrier | once) => None,
            kinds!(futex | thread | heap | object | pause | outside) => None,
        }
    }

    /// The thread that this step interrupts, if it is the beginning of a signal handler.
    pub fn interrupts(&self) -> Option<ThreadId> {
        let number =
            if self.kind() == Some(EventKind::Signal) { self.old.checked_sub(1)? } else { return None };
        u16::try_from(number).ok().map(ThreadId)
    }

    /// Whether the access is to something `volatile`, as far as the compiler reports it.
    pub fn is_volatile(&self) -> bool {
        self.flags & Event::VOLATILE != 0
    }

    /// Whether the program asks race detectors not to look at the access.
    pub fn is_ignored(&self) -> bool {
        self.flags & Event::IGNORED != 0
    }

    /// Whether an atomic step or a fence makes its thread see what others did before they released.
    pub fn acquires(&self) -> bool {
        self.flags & Event::ACQUIRES_NOT == 0
    }

    /// Whether an atomic step or a fence lets others see what its thread did before.
    pub fn releases(&self) -> bool {
        self.flags & Event::RELEASES_NOT == 0
    }

    /// A hash of the thread's state (registers, stack and private writes) when it announced the step, where the plan asked
    /// for it; else 0.
    pub fn state_hash(&self) -> u32 {
        self.flags >> Event::STATE_HASH
    }

    /// The kind of step.
    pub fn kind(&self) -> Option<EventKind> {
        EventKind::from_number(self.kind)
    }
}
