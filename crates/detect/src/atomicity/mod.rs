//! Atomicity violations of one variable (CTrigger; "Efficient Concurrency-Bug Detection Across
//! Inputs", §2.1 and Figure 1).
//!
//! Three accesses to the same byte are reported if
//!
//! 1. p and c are consecutive accesses of one thread to it, and r is one of another thread;
//! 2. their kinds are one of the four that no serial order explains (patterns 4 to 7);
//! 3. r is concurrent with p and with c by enforced order. Where r has to come after p or before c,
//!    the program has said where it belongs;
//! 4. locks leave a gap: at some time from p to c the first thread holds no lock that is also held at r (a
//!    read-write lock only counts if one of the two holds it for writing).
//!
//! An atomic read-modify-write is one step: it can be r, but neither opens nor closes a pair.
//!
//! How sure that is depends on how p, r and c are protected one by one:
//!
//! * If p and r, or r and c, share no lock, something is wrong anyway: *predicted*, or *observed* if r came between
//!   in this very run; only *suspected* if values handed over under other locks order them.
//! * If each is protected but p and c are in separate critical sections, a read followed by a write
//!   without another look (pattern 7) acts on a stale value: *predicted*, unless the lock belongs to a condition
//!   variable, by which threads signal each other whose turn it is. The other kinds are *suspected*.
//! * If all three are atomic, a load that is immediately followed by a store is *predicted*; a site that
//!   follows itself is a polling loop and not reported; others are *suspected*.

mod consecutive_pair;
mod remembered;
mod stamped_access;
mod verdict;

use threadbare_happens_before::{AccessedBytes, ShadowMemory, reused_range};
use threadbare_trace::{Event, EventKind};

use self::consecutive_pair::ConsecutivePair;
use self::remembered::Remembered;
pub(crate) use self::stamped_access::StampedAccess;
use self::verdict::Verdicts;
use crate::detector::Detector;
use crate::finding::Finding;
use crate::synchronization::{LastValue, Synchronization};

#[derive(Clone, Default)]
struct Variable {
    value: LastValue,
    /// The last access of each thread.
    last: Vec<StampedAccess>,
    /// Consecutive accesses of one thread, the last ones at each two sites.
    pairs: Vec<ConsecutivePair>,
    /// All accesses, by site.
    all: Vec<Remembered>,
}

/// Finds atomicity violations on one variable.
#[derive(Default)]
pub struct Atomicity {
    synchronization: Synchronization,
    memory: ShadowMemory<Variable>,
    numbers: Vec<u64>,
    found: Verdicts,
}

impl Variable {
    fn take_in(&mut self, s: &mut Synchronization, found: &mut Verdicts, step: &StampedAccess, addr: u64) {
        let thread = step.access.thread;
        for pair in self.pairs.iter().filter(|pair| pair.can_be_torn_by_later(step)) {
            found.judge(s, pair, step, addr);
        }
        if step.access.kind == EventKind::Free {
            return;
        }
        match self.last.iter_mut().find(|last| last.access.thread == thread) {
            None => self.last.push(step.clone()),
            Some(last) => {
                let p = std::mem::replace(last, step.clone());
                if !p.is_update() && !step.is_update() {
                    let gaps = s.locks.since(thread, p.access.event, &p.held);
                    self.close(s, found, ConsecutivePair::new(p, step.clone(), gaps), addr);
                }
            }
        }
        let is_known_to_all = |epoch| s.enforced.is_known_to_all(epoch);
        match self.all.iter_mut().find(|same| same.is_of(step)) {
            Some(same) => same.push(step.clone(), is_known_to_all),
            None => self.all.push(Remembered::new(step.clone())),
        }
    }

    fn close(&mut self, s: &Synchronization, found: &mut Verdicts, pair: ConsecutivePair, addr: u64) {
        for r in self.all.iter().filter(|same| same.can_tear(&pair)).flat_map(Remembered::steps) {
            found.judge(s, &pair, r, addr);
        }
        match self.pairs.iter_mut().find(|known| known.is_like(&pair)) {
            Some(known) => *known = pair,
            None => self.pairs.push(pair),
        }
    }
}

impl Atomicity {
    /// Finds those, too, that signal handlers cause in the threads they interrupt.
    pub(crate) fn of_interrupts() -> Atomicity {
        Atomicity { synchronization: Synchronization::with_concurrent_interrupts(), ..Atomicity::default() }
    }

    fn touch(&mut self, index: usize, event: &Event, kind: EventKind, touch: AccessedBytes, number: u64) {
        let Atomicity { synchronization: s, memory, found, .. } = self;
        let locks = s.locks.current(event.thread);
        if touch.reads && !touch.atomic {
            let read = |_, variable: &mut Variable| {
                variable.value.read(event.thread, locks, &s.locks, &mut s.handed_over);
            };
            memory.visit_existing(touch.addr, touch.len, read);
        }
        let step = StampedAccess::new(s, index, event, kind, touch, number);
        let visit = |addr: u64, variable: &mut Variable| {
            variable.take_in(s, found, &step, addr);
            if touch.writes {
                variable.value.written(event.thread, locks);
            }
        };
        if kind == EventKind::Free {
            memory.visit_existing(touch.addr, touch.len, visit);
        } else {
            memory.visit(touch.addr, touch.len, visit);
        }
    }
}

impl Detector for Atomicity {
    fn name(&self) -> &'static str {
        "atomicity"
    }

    fn observe(&mut self, index: usize, event: &Event) {
        let Some(kind) = event.kind() else { return };
        let change = self.synchronization.before(index, event, kind);
        self.found.note_monitor(event, kind, change, self.synchronization.locks.held(event.thread));
        if self.numbers.len() <= event.thread.index() {
            self.numbers.resize(event.thread.index() + 1, 0);
        }
        if !kind.only_names() {
            self.numbers[event.thread.index()] += 1;
        }
        if let Some(touch) = AccessedBytes::looked_at(event, kind) {
            self.touch(index, event, kind, touch, self.numbers[event.thread.index()]);
        }
        if let Some((first, last)) = reused_range(event, kind) {
            self.memory.forget(first, last);
        }
        self.synchronization.after(event, kind);
    }

    fn findings(self: Box<Self>) -> Vec<Finding> {
        self.found.into_findings()
    }
}
