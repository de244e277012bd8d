//! What a step does to memory.

use threadbare_trace::{Event, EventKind, kinds};

/// Of longer ranges only the beginning is looked at: each word of them takes memory.
const LONGEST: u64 = 1 << 22;

/// The bytes a step touches, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessedBytes {
    /// The first byte.
    pub addr: u64,
    /// How many bytes.
    pub len: u64,
    /// Whether it reads them.
    pub reads: bool,
    /// Whether it writes them.
    pub writes: bool,
    /// Whether it is an atomic operation.
    pub atomic: bool,
}

impl AccessedBytes {
    /// The same for detectors: none of what the program asks them not to look at.
    #[inline]
    pub fn looked_at(event: &Event, kind: EventKind) -> Option<AccessedBytes> {
        if event.is_ignored() { None } else { AccessedBytes::of(event, kind) }
    }

    /// What a step touches, if it accesses memory. Releasing a block is a write to all of it.
    #[inline]
    pub fn of(event: &Event, kind: EventKind) -> Option<AccessedBytes> {
        use EventKind::*;
        let (reads, writes, atomic) = match kind {
            Read | ReadRange => (true, false, false),
            Write | WriteRange | Free => (false, true, false),
            AtomicRead | AtomicFailed => (true, false, true),
            AtomicWrite => (false, true, true),
            AtomicUpdate => (true, true, true),
            Alloc | Fence | Signal | Frame | kinds!(lock | condition | barrier | semaphore) => return None,
            kinds!(once | futex | thread | object | pause | outside) => return None,
        };
        let len = match kind {
            ReadRange | WriteRange => event.value.clamp(1, LONGEST),
            Free => event.value.max(1),
            // The other accesses are as long as the event says.
            _ => u64::from(event.size.max(1)),
        };
        Some(AccessedBytes { addr: event.addr, len: len.min(u64::MAX - event.addr), reads, writes, atomic })
    }
}

/// The range to which an event gives a new meaning: memory that was allocated or released, the stack of a
/// thread that begins, the variables of a call.
pub fn reused_range(event: &Event, kind: EventKind) -> Option<(u64, u64)> {
    use EventKind::*;
    let Event { addr, value, .. } = *event;
    match kind {
        Alloc | Free => Some((addr, addr.saturating_add(value.max(1) - 1))),
        Start => (value > addr).then(|| (addr, value - 1)),
        Frame => (addr > value).then(|| (value, addr - 1)),
        Create | Exit | Join | Detach | JoinFailed | Cancel | Fence | Signal | kinds!(plain | atomic) => None,
        kinds!(lock | condition | barrier | semaphore | once | futex | object | pause | outside) => None,
    }
}
