//! Data races: two accesses to the same memory by different threads, at least one of them a write
//! and not both atomic, that are neither ordered nor mutually excluded.

pub mod happens_before;
mod history;
pub mod hybrid;

use threadbare_happens_before::{
    AccessedBytes, LockSetId, NumberMap, Rules, ShadowMemory, ThreadClocks, reused_range,
};
use threadbare_trace::{Event, EventKind};

use self::history::{Entry, History};
use crate::finding::{Access, Certainty, Finding, FindingKind};
use crate::synchronization::Synchronization;
use threadbare_patterns as patterns;

/// The two detectors are one search under two sets of rules.
struct Search {
    rules: Separation,
    memory: ShadowMemory<History>,
    found: Found,
}

/// What orders or excludes two accesses mutually.
#[allow(clippy::large_enum_variant)]
enum Separation {
    /// The order that was observed.
    Observed(ThreadClocks),
    /// The order that is enforced, and locks.
    Predicted(Synchronization),
}

#[derive(Default)]
struct Found {
    places: NumberMap<(u64, u64), usize>,
    findings: Vec<Finding>,
}

impl Separation {
    #[inline]
    fn order(&mut self) -> &mut ThreadClocks {
        match self {
            Separation::Observed(order) => order,
            Separation::Predicted(synchronization) => &mut synchronization.enforced,
        }
    }
}

impl Search {
    fn new(rules: Separation) -> Search {
        Search { rules, memory: ShadowMemory::default(), found: Found::default() }
    }

    fn observed() -> Search {
        Search::new(Separation::Observed(ThreadClocks::new(Rules::Observed)))
    }

    fn of_interrupts() -> Search {
        Search::new(Separation::Predicted(Synchronization::with_concurrent_interrupts()))
    }

    fn predicted() -> Search {
        Search::new(Separation::Predicted(Synchronization::default()))
    }

    #[inline]
    fn observe(&mut self, index: usize, event: &Event) {
        let Some(kind) = event.kind() else { return };
        match &mut self.rules {
            Separation::Observed(order) => order.before(event, kind),
            Separation::Predicted(synchronization) => {
                synchronization.before(index, event, kind);
            }
        }
        if let Some(touch) = AccessedBytes::looked_at(event, kind) {
            self.touch(index, event, kind, touch);
        }
        if let Some((first, last)) = reused_range(event, kind) {
            self.memory.forget(first, last);
        }
        match &mut self.rules {
            Separation::Observed(order) => order.after(event, kind),
            Separation::Predicted(synchronization) => synchronization.after(event, kind),
        }
    }

    fn touch(&mut self, index: usize, event: &Event, kind: EventKind, touch: AccessedBytes) {
        let thread = event.thread;
        let Search { rules, memory, found } = self;
        let time = rules.order().epoch(thread).time;
        let (locks, handed_over) = match rules {
            Separation::Observed(_) => (LockSetId::EMPTY, 0),
            Separation::Predicted(s) => (s.locks.current(thread), s.handed_over.epoch(thread).time),
        };
        let new = Entry {
            pc: event.pc,
            event: u32::try_from(index).unwrap_or(u32::MAX),
            time,
            handed_over,
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
            match rules {
                Separation::Observed(order) => {
                    let clock = order.clock(thread);
                    if !history.is_before(&new, clock) {
                        for old in history.conflicts(&new, clock) {
                            found.add(old, &new, addr, Certainty::Observed, Vec::new());
                        }
                    }
                }
                Separation::Predicted(s) => predict(s, history, &new, addr, found),
            }
            if kind == EventKind::Free {
                return;
            }
            let masks = match rules {
                Separation::Observed(_) => (0, 0),
                Separation::Predicted(s) => s.locks.set(locks).masks(),
            };
            let order = rules.order();
            history.push(&new, order.clock(thread), masks);
            history.thin_out(order);
        };
        if kind == EventKind::Free {
            memory.visit_existing(touch.addr, touch.len, visit);
        } else {
            memory.visit(touch.addr, touch.len, visit);
        }
    }
}

fn predict(s: &mut Synchronization, history: &mut History, new: &Entry, addr: u64, found: &mut Found) {
    if !new.atomic && !new.writes {
        history.value.read(new.thread, new.locks, &s.locks, &mut s.handed_over);
    }
    let clock = s.enforced.clock(new.thread);
    if history.is_before(new, clock) || history.is_excluded(s.locks.set(new.locks).masks()) {
        return;
    }
    for old in history.conflicts(new, clock) {
        if s.locks.exclude(old.locks, new.locks) {
            continue;
        }
        let certainty = match old.handed_over <= s.handed_over.clock(new.thread).get(old.thread) {
            true => Certainty::Suspected,
            false => Certainty::Predicted,
        };
        let sets = [s.locks.set(old.locks), s.locks.set(new.locks)];
        let held = sets.iter().flat_map(|set| set.locks()).map(|(lock, _)| *lock);
        found.add(old, new, addr, certainty, held.collect());
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
            at: new.event as usize,
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
        Access { event: event as usize, thread, pc, context, kind, object }
    }
}
