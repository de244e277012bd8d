//! Lock discipline (Eraser; the consistent locks of "total replay", §3.2).
//!
//! Every variable that threads share should be protected by one lock throughout. A variable passes
//! through the states of Eraser:
//!
//! * *exclusive*: an access that comes after all earlier ones by enforced order makes its thread the only
//!   user. So initialisation needs no lock, nor does handing a variable over by join, barrier or signal.
//! * *shared*: another thread has accessed it since, not ordered after the owner. From here on the locks held
//!   at every access are intersected (for a write, only those held for writing). An atomic
//!   access counts as holding a lock of its own, so variables that are only used atomically are fine.
//! * *shared and modified*: one of those accesses wrote. If no lock is left, the variable is
//!   reported, once until it is exclusive again. As long as one thread only has written, it may read without a lock: nobody
//!   changes the variable meanwhile.
//!
//! The finding names the access that left no lock, and an earlier one of another thread: the last one that
//! shares no lock with it or, if there is none, the last one. It is only suspected where the first kind exists and a
//! value handed over under some lock orders the two.

use threadbare_happens_before::{
    AccessedBytes, Epoch, Frontier, LockSetId, Mode, ShadowMemory, reused_range,
};
use threadbare_trace::{Event, EventKind, ThreadId};

use crate::detector::Detector;
use crate::finding::{Access, Certainty, Finding, FindingKind, FindingSet};
use crate::synchronization::{LastValue, Synchronization};

/// Stands for the lock that all atomic accesses hold.
const ATOMIC: (u64, Mode) = (u64::MAX, Mode::Exclusive);

#[derive(Clone, Default)]
struct Variable {
    accesses: Frontier,
    value: LastValue,
    /// The last access of each thread since the variable was exclusive, in order.
    recent: Vec<Recent>,
    /// The locks held at every access of a thread that only read, since it is shared.
    read_under: Vec<(ThreadId, Vec<u64>)>,
    /// Those held at every other access, if there is one.
    written_under: Option<Vec<u64>>,
    writer: Writer,
    reported: bool,
}

/// Who has written a variable since it is shared.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Writer {
    #[default]
    Nobody,
    One(ThreadId),
    Several,
}

#[derive(Clone)]
struct Recent {
    access: Access,
    locks: LockSetId,
    handed_over: Epoch,
}

/// Leaves those locks that are held now as well.
fn leave_common(locks: &mut Option<Vec<u64>>, held: impl Iterator<Item = u64>) {
    let held: Vec<u64> = held.collect();
    match locks {
        Some(locks) => locks.retain(|lock| held.contains(lock)),
        None => *locks = Some(held),
    }
}

/// Finds variables without a consistent lock.
#[derive(Default)]
pub struct LockDiscipline {
    synchronization: Synchronization,
    memory: ShadowMemory<Variable>,
    found: FindingSet,
}

impl Variable {
    /// Takes in an access; says whether it leaves the variable without protection.
    fn update(&mut self, new: &Recent, s: &mut Synchronization, touch: AccessedBytes) -> bool {
        let thread = new.access.thread;
        let epoch = s.enforced.epoch(thread);
        let clock = s.enforced.clock(thread);
        let exclusive = self.accesses.is_covered_by(clock);
        self.accesses.push(epoch, clock);
        if exclusive {
            self.recent.clear();
            self.read_under.clear();
            self.written_under = None;
            (self.writer, self.reported) = (Writer::Nobody, false);
            return false;
        }
        let helps = |mode: Mode| !touch.writes || mode == Mode::Exclusive;
        let held = s.locks.set(new.locks).locks().iter().chain(touch.atomic.then_some(&ATOMIC));
        let held = held.filter(|(_, mode)| helps(*mode)).map(|(lock, _)| *lock);
        if touch.writes {
            leave_common(&mut self.written_under, held);
            self.writer = match self.writer {
                Writer::Nobody => Writer::One(thread),
                Writer::One(only) if only == thread => self.writer,
                _ => Writer::Several,
            };
        } else if let Some((_, under)) = self.read_under.iter_mut().find(|(reader, _)| *reader == thread) {
            let held: Vec<u64> = held.collect();
            under.retain(|lock| held.contains(lock));
        } else {
            self.read_under.push((thread, held.collect()));
        }
        let unprotected = !self.reported && !self.is_protected();
        self.reported |= unprotected;
        unprotected
    }

    /// Whether some lock was held at every access that needs one.
    fn is_protected(&self) -> bool {
        let Some(written_under) = &self.written_under else { return true };
        let others = || self.read_under.iter().filter(|(reader, _)| self.writer != Writer::One(*reader));
        written_under.iter().any(|lock| others().all(|(_, under)| under.contains(lock)))
    }

    /// The earlier access that a finding is reported with, and whether it is handed over.
    fn partner(&self, new: &Recent, s: &mut Synchronization) -> Option<(Access, Certainty)> {
        let others = || self.recent.iter().rev().filter(|old| old.access.thread != new.access.thread);
        let unexcluded = others().find(|old| !s.locks.exclude(old.locks, new.locks));
        let clock = s.handed_over.clock(new.access.thread);
        let certainty = match unexcluded {
            Some(old) if clock.covers(old.handed_over) => Certainty::Suspected,
            _ => Certainty::Predicted,
        };
        Some((unexcluded.or_else(|| others().next())?.access, certainty))
    }

    fn remember(&mut self, new: Recent) {
        self.recent.retain(|old| old.access.thread != new.access.thread);
        self.recent.push(new);
    }
}

impl LockDiscipline {
    fn touch(&mut self, index: usize, event: &Event, kind: EventKind, touch: AccessedBytes) {
        let LockDiscipline { synchronization: s, memory, found } = self;
        let thread = event.thread;
        let locks = s.locks.current(thread);
        let visit = |addr: u64, variable: &mut Variable| {
            if touch.reads && !touch.atomic {
                variable.value.read(thread, locks, &s.locks, &mut s.handed_over);
            }
            let access = Access { object: addr, ..Access::of(index, event, kind) };
            let new = Recent { access, locks, handed_over: s.handed_over.epoch(thread) };
            if variable.update(&new, s, touch)
                && let Some((partner, certainty)) = variable.partner(&new, s)
            {
                found.add(Finding {
                    kind: FindingKind::LockDiscipline,
                    certainty,
                    pattern: None,
                    object: addr,
                    at: index,
                    accesses: vec![partner, access],
                    locks: s.locks.set(locks).locks().iter().map(|(lock, _)| *lock).collect(),
                    count: 1,
                });
            }
            if touch.writes {
                variable.value.written(thread, locks);
            }
            variable.remember(new);
        };
        // Whoever frees memory must be its only user then; races with that are found elsewhere.
        if kind != EventKind::Free {
            memory.visit(touch.addr, touch.len, visit);
        }
    }
}

impl Detector for LockDiscipline {
    fn name(&self) -> &'static str {
        "lock discipline"
    }

    fn observe(&mut self, index: usize, event: &Event) {
        let Some(kind) = event.kind() else { return };
        self.synchronization.before(index, event, kind);
        if let Some(touch) = AccessedBytes::looked_at(event, kind) {
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
