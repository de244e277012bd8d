//! Accesses under a common lock whose order nothing enforces.
//!
//! The lock excludes them mutually, so there is no race; most programs do not care which of them comes first. Some do:
//! then one thread was meant to wait for the other. What this detector reports is worth trying, the other way
//! round than it was observed, and nothing more: all of it is *suspected*.
//!
//! It reads short traces; it is not among those that every trace is shown to.

use threadbare_happens_before::{AccessedBytes, ShadowMemory, reused_range};
use threadbare_trace::{Event, EventKind};

use crate::atomicity::StampedAccess;
use crate::detector::Detector;
use crate::finding::{Certainty, Finding, FindingKind, FindingSet};
use crate::synchronization::Synchronization;
use threadbare_patterns as patterns;

/// How many accesses to a variable are remembered, the last ones of different threads and sites.
const KEPT: usize = 16;

/// Finds accesses that could as well have come in the other order.
#[derive(Default)]
pub struct EitherOrder {
    synchronization: Synchronization,
    memory: ShadowMemory<Vec<StampedAccess>>,
    found: FindingSet,
}

impl EitherOrder {
    fn touch(&mut self, index: usize, event: &Event, kind: EventKind, touch: AccessedBytes) {
        let EitherOrder { synchronization: s, memory, found } = self;
        let step = StampedAccess::new(s, index, event, kind, touch, 0);
        memory.visit(touch.addr, touch.len, |_, known: &mut Vec<StampedAccess>| {
            for earlier in known.iter().filter(|earlier| can_be_turned(s, earlier, &step)) {
                found.add(turned(earlier, &step));
            }
            known.retain(|it| (it.access.thread, it.access.pc) != (event.thread, event.pc));
            if known.len() == KEPT {
                known.remove(0);
            }
            known.push(step.clone());
        });
    }
}

fn can_be_turned(s: &Synchronization, earlier: &StampedAccess, later: &StampedAccess) -> bool {
    earlier.access.thread != later.access.thread
        && (earlier.writes || later.writes)
        && s.locks.exclude(earlier.locks, later.locks)
        && earlier.may_swap_with(later)
}

/// The two accesses as they were not observed.
fn turned(earlier: &StampedAccess, later: &StampedAccess) -> Finding {
    Finding {
        kind: FindingKind::Order,
        certainty: Certainty::Suspected,
        pattern: patterns::pair(later.writes, earlier.writes),
        object: later.access.object,
        at: later.access.event,
        accesses: vec![later.access, earlier.access],
        locks: Vec::new(),
        count: 1,
    }
}

impl Detector for EitherOrder {
    fn name(&self) -> &'static str {
        "either order"
    }

    fn observe(&mut self, index: usize, event: &Event) {
        let Some(kind) = event.kind() else { return };
        self.synchronization.before(index, event, kind);
        if let Some(touch) = AccessedBytes::looked_at(event, kind)
            && !touch.atomic
            && kind != EventKind::Free
            && !self.synchronization.locks.held(event.thread).is_empty()
        {
            self.touch(index, event, kind, touch);
        }
        if let Some((first, last)) = reused_range(event, kind) {
            self.memory.forget(first, last);
        }
        self.synchronization.after(event, kind);
    }

    fn findings(self: Box<Self>) -> Vec<Finding> {
        self.found.into_sorted()
    }
}

#[cfg(test)]
mod tests {
    use threadbare_trace::ThreadId;

    use super::*;

    /// Events from words: thread, letter (`l`ock, `u`nlock, `r`ead, `w`rite, `c`reate, `j`oin), number. The site is
    /// the word's place.
    fn found(text: &str) -> Vec<(u16, u16)> {
        let mut detector = Box::<EitherOrder>::default();
        for (index, word) in text.split(' ').enumerate() {
            let bytes = word.as_bytes();
            let number = u64::from(bytes[2] - b'0');
            let (kind, addr, value) = match bytes[1] {
                b'l' => (EventKind::Lock, 0x10 * number, 0),
                b'u' => (EventKind::Unlock, 0x10 * number, 0),
                b'r' => (EventKind::Read, 0x1000 * number, 0),
                b'w' => (EventKind::Write, 0x1000 * number, 0),
                b'c' => (EventKind::Create, 0, number),
                _ => (EventKind::Join, 0, number),
            };
            let thread = ThreadId(u16::from(bytes[0] - b'0'));
            let event = Event {
                thread,
                addr,
                value,
                kind: kind as u8,
                pc: index as u64 + 1,
                size: 4,
                ..Event::default()
            };
            detector.observe(index, &event);
        }
        let threads = |it: &Finding| (it.accesses[0].thread.0, it.accesses[1].thread.0);
        detector.findings().iter().map(threads).collect()
    }

    #[test]
    fn a_locked_read_could_have_come_before_the_locked_write() {
        assert_eq!(found("0c1 1l1 1w1 1u1 0l1 0r1 0u1"), [(0, 1)]);
    }

    #[test]
    fn joined_threads_readers_and_other_locks_are_of_no_interest() {
        assert_eq!(found("0c1 1l1 1w1 1u1 0j1 0l1 0r1 0u1"), []);
        assert_eq!(found("0c1 1l1 1r1 1u1 0l1 0r1 0u1"), []);
        assert_eq!(found("0c1 1l1 1w1 1u1 0l2 0r1 0u2"), []);
        assert_eq!(found("0c1 1l1 1w1 1u1 0r1"), []);
    }
}
