//! Which lock is meant by an address.

use std::collections::BTreeMap;

use threadbare_happens_before::reused_range;
use threadbare_trace::{Event, EventKind, kinds};

/// Numbers for locks. An address that is initialised anew, or whose memory was freed, is another lock from
/// then on.
#[derive(Default)]
pub(super) struct LockNames {
    numbers: BTreeMap<u64, u64>,
    last: u64,
}

impl LockNames {
    /// The lock at an address, counted from 1.
    pub(super) fn number(&mut self, address: u64) -> u64 {
        *self.numbers.entry(address).or_insert_with(|| {
            self.last += 1;
            self.last
        })
    }

    /// Takes note of a step that gives memory a new meaning.
    pub(super) fn observe(&mut self, event: &Event, kind: EventKind) {
        let range = match kind {
            kinds!(object) => Some((event.addr, event.addr)),
            // `reused_range` knows the other kinds that do.
            _ => reused_range(event, kind),
        };
        let Some((first, last)) = range.filter(|_| !self.numbers.is_empty()) else { return };
        let gone: Vec<u64> = self.numbers.range(first..=last).map(|(address, _)| *address).collect();
        for address in gone {
            self.numbers.remove(&address);
        }
    }

    /// The step with the numbers of locks instead of their addresses, if it acquires or releases one.
    pub(super) fn named(&mut self, event: &Event, kind: EventKind) -> Option<Event> {
        use EventKind::*;
        match kind {
            Lock | ReadLock | Unlock => Some(Event { addr: self.number(event.addr), ..*event }),
            CondWait | CondWake | CondTimeout if event.value != 0 => {
                Some(Event { value: self.number(event.value), ..*event })
            }
            CondWake | CondTimeout | Exit => Some(*event),
            CondWait | CondSignal | CondBroadcast | LockFailed => None,
            Create | Start | Join | Detach | JoinFailed | Cancel | Fence | Signal | Frame => None,
            kinds!(plain | atomic | barrier | semaphore | once | futex) => None,
            kinds!(heap | object | pause | outside) => None,
        }
    }
}
