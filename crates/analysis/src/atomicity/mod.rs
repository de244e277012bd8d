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
//!   variable, by which threads tell each other whose turn it is. The other kinds are *suspected*.
//! * If all three are atomic, a load that is immediately followed by a store is *predicted*; a site that
//!   follows itself is a polling loop and not reported; others are *suspected*.

mod remembered;
mod step;

use std::collections::BTreeSet;

use threadbare_trace::{Event, EventKind};

pub(crate) use self::remembered::Remembered;
pub(crate) use self::step::Step;
use crate::access::{Touch, reborn};
use crate::detector::Detector;
use crate::finding::{Certainty, Finding, FindingKind, FindingSet};
use crate::locks::{Change, LockSetId};
use crate::memory::Memory;
use crate::patterns;
use crate::synchronization::{LastValue, Synchronization};

#[derive(Clone, Default)]
struct Variable {
    value: LastValue,
    /// The last access of each thread.
    last: Vec<Step>,
    /// Consecutive accesses of one thread, the last ones at each two sites.
    pairs: Vec<Pair>,
    /// All accesses, by site.
    all: Vec<Remembered>,
}

#[derive(Clone)]
struct Pair {
    p: Step,
    c: Step,
    /// The sets of locks held at one time or another from p to c.
    gaps: Vec<LockSetId>,
}

impl Pair {
    fn is_like(&self, other: &Pair) -> bool {
        self.p.is_like(&other.p) && self.c.is_like(&other.c) && self.gaps == other.gaps
    }

    fn is_adjacent(&self) -> bool {
        self.c.number == self.p.number + 1
    }
}

/// Finds accesses to one variable that are torn apart.
#[derive(Default)]
pub struct Atomicity {
    synchronization: Synchronization,
    memory: Memory<Variable>,
    numbers: Vec<u64>,
    found: Found,
}

#[derive(Default)]
struct Found {
    findings: FindingSet,
    /// Stale values across critical sections, to be judged when it is known which locks are used with
    /// condition variables.
    stale: FindingSet,
    /// Those locks.
    monitors: BTreeSet<u64>,
    /// The lock that each thread released last: signals are often sent right after.
    released: Vec<u64>,
}

impl Found {
    fn judge(&mut self, s: &Synchronization, pair: &Pair, r: &Step, addr: u64) {
        let Pair { p, c, gaps } = pair;
        let locked_out = || gaps.iter().all(|gap| s.locks.exclude(*gap, r.locks));
        if !p.may_swap_with(r) || !r.may_swap_with(c) || locked_out() {
            return;
        }
        let manners = [r.writes.then_some(true), r.reads.then_some(false)];
        let ids = manners.into_iter().flatten().filter_map(|w| patterns::triple(p.writes, w, c.writes));
        let Some(id) = ids.into_iter().find(|id| patterns::is_unserializable(*id)) else { return };
        let happened = p.access.event < r.access.event && r.access.event < c.access.event;
        let sure = if happened { Certainty::Observed } else { Certainty::Predicted };
        let (before, after) = (s.locks.exclude(p.locks, r.locks), s.locks.exclude(r.locks, c.locks));
        let mut stale = false;
        let certainty = if p.atomic && r.atomic && c.atomic {
            match (id, pair.is_adjacent()) {
                (7, true) => sure,
                _ if p.access.pc == c.access.pc => return,
                _ => Certainty::Suspected,
            }
        } else if before && after {
            stale = id == 7 && !p.waited() && !c.waited();
            Certainty::Suspected
        } else if (before || p.is_handed_over(r)) && (after || r.is_handed_over(c)) {
            Certainty::Suspected
        } else {
            sure
        };
        let held = [p, r, c].into_iter().flat_map(|step| s.locks.set(step.locks).locks());
        let locks: BTreeSet<u64> = held.map(|(lock, _)| *lock).collect();
        let finding = Finding {
            kind: FindingKind::Atomicity,
            certainty,
            pattern: Some(id),
            object: addr,
            at: p.access.event.max(c.access.event).max(r.access.event),
            accesses: [p, r, c].map(|step| crate::Access { object: addr, ..step.access }).to_vec(),
            locks: locks.into_iter().collect(),
            count: 1,
        };
        if stale {
            self.stale.add(Finding { certainty: sure, ..finding.clone() });
        }
        self.findings.add(finding);
    }
}

impl Variable {
    fn take_in(&mut self, s: &mut Synchronization, found: &mut Found, step: &Step, addr: u64) {
        let thread = step.access.thread;
        for pair in self.pairs.iter().filter(|pair| pair.p.access.thread != thread) {
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
                    self.close(s, found, Pair { p, c: step.clone(), gaps }, addr);
                }
            }
        }
        let place = match self.all.iter().position(|same| same.steps[0].is_like(step)) {
            Some(place) => place,
            None => {
                self.all.push(Remembered::default());
                self.all.len() - 1
            }
        };
        self.all[place].push(step.clone(), |epoch| s.enforced.is_known_to_all(epoch));
        self.all.retain(|same| !same.steps.is_empty());
    }

    fn close(&mut self, s: &Synchronization, found: &mut Found, pair: Pair, addr: u64) {
        for r in self.all.iter().flat_map(|same| &same.steps) {
            if r.access.thread != pair.p.access.thread {
                found.judge(s, &pair, r, addr);
            }
        }
        match self.pairs.iter_mut().find(|known| known.is_like(&pair)) {
            // Where steps that follow each other at once are worse, that must not be forgotten.
            Some(known) if known.is_adjacent() && !pair.is_adjacent() && pair.p.atomic => {}
            Some(known) => *known = pair,
            None => self.pairs.push(pair),
        }
    }
}

impl Atomicity {
    fn touch(&mut self, index: usize, event: &Event, kind: EventKind, touch: Touch, number: u64) {
        let Atomicity { synchronization: s, memory, found, .. } = self;
        let locks = s.locks.current(event.thread);
        if touch.reads && !touch.atomic {
            let read = |_, variable: &mut Variable| {
                variable.value.read(event.thread, locks, &s.locks, &mut s.handed_over);
            };
            memory.visit_existing(touch.addr, touch.len, read);
        }
        let step = Step::new(s, index, event, kind, touch, number);
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

    /// Notes which locks are used together with condition variables.
    fn note_monitor(&mut self, event: &Event, kind: EventKind, change: Option<Change>) {
        use EventKind::*;
        let thread = event.thread;
        let found = &mut self.found;
        if found.released.len() <= thread.index() {
            found.released.resize(thread.index() + 1, 0);
        }
        if let Some(Change::Released(held)) = change {
            found.released[thread.index()] = held.lock;
        }
        match kind {
            CondWait => {
                found.monitors.insert(event.value);
            }
            CondSignal | CondBroadcast => {
                let held = self.synchronization.locks.held(thread);
                if held.is_empty() {
                    found.monitors.insert(found.released[thread.index()]);
                }
                found.monitors.extend(held.iter().map(|held| held.lock));
            }
            _ => {}
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
        self.note_monitor(event, kind, change);
        if self.numbers.len() <= event.thread.index() {
            self.numbers.resize(event.thread.index() + 1, 0);
        }
        if !kind.only_names() {
            self.numbers[event.thread.index()] += 1;
        }
        if let Some(touch) = Touch::of(event, kind) {
            self.touch(index, event, kind, touch, self.numbers[event.thread.index()]);
        }
        if let Some((first, last)) = reborn(event, kind) {
            self.memory.forget(first, last);
        }
        self.synchronization.after(event, kind);
    }

    fn findings(self: Box<Self>) -> Vec<Finding> {
        let Found { mut findings, stale, monitors, .. } = self.found;
        for finding in stale.into_sorted() {
            if !finding.locks.iter().any(|lock| monitors.contains(lock)) {
                findings.add_same(finding);
            }
        }
        findings.into_sorted()
    }
}
