//! Data races: two accesses to the same memory by different threads, at least one of them a write
//! and not both atomic, that nothing keeps apart.

pub mod happens_before;
mod history;
pub mod hybrid;

use threadbare_trace::{Event, EventKind, ThreadId};

use self::history::{Entry, History};
use crate::access::{Touch, reborn};
use crate::address_table::NumberMap;
use crate::finding::{Access, Certainty, Finding, FindingKind};
use crate::locks::{LockSetId, LockSets};
use crate::memory::Memory;
use crate::order::{Order, Rules};
use crate::patterns;

/// The two detectors are one search under two sets of rules.
struct Search {
    order: Order,
    /// Present where locks count as keeping steps apart, and not as ordering them.
    apart: Option<Apart>,
    memory: Memory<History>,
    found: Found,
}

/// What keeps steps apart without ordering them.
struct Apart {
    locks: LockSets,
    handed_over: Order,
}

#[derive(Default)]
struct Found {
    places: NumberMap<(u64, u64), usize>,
    findings: Vec<Finding>,
}

impl Search {
    fn new(rules: Rules) -> Search {
        let apart = (rules == Rules::Enforced)
            .then(|| Apart { locks: LockSets::default(), handed_over: Order::new(Rules::HandedOver) });
        Search { order: Order::new(rules), apart, memory: Memory::default(), found: Found::default() }
    }

    fn observe(&mut self, index: usize, event: &Event) {
        let Some(kind) = event.kind() else { return };
        self.order.before(event, kind);
        if let Some(apart) = &mut self.apart {
            apart.handed_over.before(event, kind);
            apart.locks.observe(index, event, kind);
        }
        if let Some(touch) = Touch::of(event, kind) {
            self.touch(index, event, kind, touch);
        }
        if let Some((first, last)) = reborn(event, kind) {
            self.memory.forget(first, last);
        }
        self.order.after(event, kind);
        if let Some(apart) = &mut self.apart {
            apart.handed_over.after(event, kind);
        }
    }

    fn touch(&mut self, index: usize, event: &Event, kind: EventKind, touch: Touch) {
        let thread = event.thread;
        let Search { order, apart, memory, found } = self;
        let locks = apart.as_mut().map_or(LockSetId::EMPTY, |apart| apart.locks.current(thread));
        let new = Entry {
            pc: event.pc,
            event: index,
            time: order.epoch(thread).time,
            handed_over: apart.as_mut().map_or(0, |apart| apart.handed_over.epoch(thread).time),
            locks,
            context: event.context,
            thread,
            kind,
            writes: touch.writes,
            atomic: touch.atomic,
        };
        let visit = |addr: u64, history: &mut History| {
            if history.has_just_seen(&new) {
                return;
            }
            if let Some(apart) = apart.as_mut()
                && touch.reads
                && !touch.atomic
            {
                receive(apart, history, &new);
            }
            let clock = order.clock(thread);
            if !history.is_before(&new, clock) && !history.is_apart(&new, apart.as_ref().map(|a| &a.locks)) {
                for old in history.conflicts(&new, clock) {
                    match apart.as_mut() {
                        None => found.add(old, &new, addr, Certainty::Observed, Vec::new()),
                        Some(apart) if apart.locks.exclude(old.locks, new.locks) => {}
                        Some(apart) => {
                            let known = apart.handed_over.clock(thread).get(old.thread);
                            let certainty = match old.handed_over <= known {
                                true => Certainty::Suspected,
                                false => Certainty::Predicted,
                            };
                            let sets = [apart.locks.set(old.locks), apart.locks.set(new.locks)];
                            let held = sets.iter().flat_map(|set| set.locks()).map(|(lock, _)| *lock);
                            found.add(old, &new, addr, certainty, held.collect());
                        }
                    }
                }
            }
            if kind != EventKind::Free {
                let clock = order.clock(thread);
                history.push(&new, clock, apart.as_ref().map(|apart| &apart.locks));
                history.thin_out(|entry| !order.is_known_to_all(entry.epoch()));
            }
        };
        if kind == EventKind::Free {
            memory.visit_existing(touch.addr, touch.len, visit);
        } else {
            memory.visit(touch.addr, touch.len, visit);
        }
    }
}

/// A read under the lock under which another thread wrote the value: the value is handed over.
fn receive(apart: &mut Apart, history: &mut History, new: &Entry) {
    let Some((from, locks)) = history.take_value(new.thread) else { return };
    if apart.locks.exclude(locks, new.locks) {
        for lock in apart.locks.common(locks, new.locks) {
            apart.handed_over.hand_over(lock, from, new.thread);
        }
    }
}

impl Found {
    fn add(&mut self, old: &Entry, new: &Entry, addr: u64, certainty: Certainty, locks: Vec<u64>) {
        let sites = (old.pc.min(new.pc), old.pc.max(new.pc));
        let place = *self.places.entry(sites).or_insert(self.findings.len());
        if place < self.findings.len() {
            let known = &mut self.findings[place];
            known.count += 1;
            if known.certainty >= certainty {
                return;
            }
        }
        let finding = Finding {
            kind: FindingKind::Race,
            certainty,
            pattern: patterns::pair(old.writes, new.writes),
            object: addr,
            at: new.event,
            accesses: vec![old.access(addr), new.access(addr)],
            locks,
            count: self.findings.get(place).map_or(1, |known| known.count),
        };
        match self.findings.get_mut(place) {
            Some(known) => *known = finding,
            None => self.findings.push(finding),
        }
    }
}

impl Entry {
    fn access(&self, object: u64) -> Access {
        let Entry { event, thread, pc, context, kind, .. } = *self;
        Access { event, thread, pc, context, kind, object }
    }
}

/// The thread and the locks of a write.
type Writer = (ThreadId, LockSetId);
