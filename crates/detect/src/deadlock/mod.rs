//! Deadlock prediction by lock order.
//!
//! A cycle of two or more threads is reported if each acquired a lock that the next one of them
//! held when it acquired its own, and
//!
//! * no two of them held a common lock then (a gate that lets one through at a time);
//! * no two of these acquisitions are in an enforced order (fork and join, barriers, …);
//! * they can come there: some interleaving of what they did with locks since each last held none does;
//! * each one would really have had to wait: it was not a try-lock or a timed one, and a reader does not wait
//!   for a reader.
//!
//! It is only *suspected* if between two of the acquisitions a value was handed over under a lock: one thread may have taken its locks
//! because it saw that the other one was done with them.
//!
//! Any number of locks up to ten is followed. Locks in memory that is used for something else, or
//! that are destroyed or initialised anew, are other locks from then on.

mod cycles;
mod lock_paths;
pub(crate) mod observed;
pub(crate) mod word_locks;

use std::sync::Arc;

use threadbare_happens_before::{
    AccessedBytes, AddressTable, HeldLock, LockChange, Mode, ShadowMemory, reused_range,
};
use threadbare_trace::{Event, EventKind, ThreadId, kinds};

use self::cycles::{CycleSearch, Dependency, Hold, LockId, Stamps, accesses};
use self::lock_paths::Move;
use crate::detector::Detector;
use crate::finding::{Access, Certainty, Finding, FindingKind, FindingSet};
use crate::synchronization::{LastValue, Synchronization};

/// How many acquisitions of the same locks by the same code are kept, if their threads knew different things.
const KEPT: usize = 8;

/// Predicts deadlocks.
#[derive(Default)]
pub struct Deadlock {
    synchronization: Synchronization,
    /// What was written since a lock was first taken under another one: values from before hand no such acquisition over.
    values: ShadowMemory<LastValue>,
    ids: AddressTable<u64>,
    next_id: u64,
    dependencies: Vec<Dependency>,
    /// What each thread did with locks since it last held none.
    ways: Vec<Vec<Move>>,
    found: FindingSet,
}

impl Deadlock {
    fn id(&mut self, lock: u64) -> LockId {
        let id = self.ids.entry(lock);
        if *id == 0 {
            self.next_id += 1;
            *id = self.next_id;
        }
        LockId(*id)
    }

    fn taken(&mut self, access: Access, lock: u64, mode: Mode, waits: bool, stamps: Stamps) {
        let thread = access.thread;
        let held = Arc::clone(self.synchronization.locks.held(thread));
        let held: Vec<HeldLock> = held.iter().filter(|held| held.lock != lock).copied().collect();
        if held.is_empty() || !waits {
            return;
        }
        let held = held
            .into_iter()
            .map(|held| Hold {
                lock: self.id(held.lock),
                mode: held.mode,
                access: Access {
                    event: held.since,
                    thread,
                    pc: held.pc,
                    context: held.context,
                    kind: held.kind,
                    object: held.lock,
                },
            })
            .collect();
        let wanted = Hold { lock: self.id(lock), mode, access: Access { object: lock, ..access } };
        let way = self.way(thread).clone();
        let way = if way.len() > lock_paths::LONGEST { Vec::new() } else { way };
        self.remember(Dependency { thread, wanted, held, stamps, way });
    }

    fn stamps(&mut self, thread: ThreadId) -> Stamps {
        let Synchronization { enforced, handed_over, .. } = &mut self.synchronization;
        Stamps { enforced: enforced.stamp(thread), handed_over: handed_over.stamp(thread) }
    }

    /// Follows values that are written under a lock and read under it.
    fn hand_over(&mut self, thread: ThreadId, touch: AccessedBytes) {
        let Deadlock { synchronization: s, values, .. } = self;
        let locks = s.locks.current(thread);
        let AccessedBytes { addr, len, .. } = touch;
        if touch.reads && !touch.atomic {
            let read = |_, value: &mut LastValue| value.read(thread, locks, &s.locks, &mut s.handed_over);
            values.visit_existing(addr, len, read);
        }
        if touch.writes {
            values.visit(addr, len, |_, value| value.written(thread, locks));
        }
    }

    fn way(&mut self, thread: ThreadId) -> &mut Vec<Move> {
        if self.ways.len() <= thread.index() {
            self.ways.resize(thread.index() + 1, Vec::new());
        }
        &mut self.ways[thread.index()]
    }

    fn follow(&mut self, thread: ThreadId, change: Option<LockChange>) {
        let (lock, taken) = match change {
            None => return,
            Some(LockChange::Taken(lock, mode)) => (lock, Some(mode)),
            Some(LockChange::Released(held)) => (held.lock, None),
        };
        let step = Move { lock: self.id(lock), taken };
        let nothing_held = self.synchronization.locks.held(thread).is_empty();
        let way = self.way(thread);
        if nothing_held {
            way.clear();
        } else if way.len() <= lock_paths::LONGEST {
            way.push(step);
        }
    }

    fn remember(&mut self, new: Dependency) {
        let is_same = |old: &Dependency| {
            old.thread == new.thread
                && old.way == new.way
                && is_like(&old.wanted, &new.wanted)
                && old.held.len() == new.held.len()
                && old.held.iter().zip(&new.held).all(|(a, b)| is_like(a, b))
        };
        let same: Vec<usize> =
            (0..self.dependencies.len()).filter(|index| is_same(&self.dependencies[*index])).collect();
        let knows_as_much = |old: &Stamps| {
            let Stamps { enforced, handed_over } = &new.stamps;
            old.enforced.clock.differs_only_in(new.thread, &enforced.clock)
                && old.handed_over.clock.differs_only_in(new.thread, &handed_over.clock)
        };
        match same.last() {
            Some(&last) if knows_as_much(&self.dependencies[last].stamps) => self.dependencies[last] = new,
            _ => {
                if same.len() >= KEPT {
                    self.dependencies.remove(same[KEPT / 2]);
                }
                self.dependencies.push(new);
            }
        }
    }

    /// The locks at these addresses are gone: cycles with them are reported now.
    fn forget(&mut self, first: u64, last: u64) {
        if self.ids.live() == 0 {
            return;
        }
        for address in self.ids.addresses(first, last) {
            let Some(id) = self.ids.remove(address) else { continue };
            let lock = LockId(id);
            let Deadlock { dependencies, found, .. } = self;
            CycleSearch::new(dependencies).through(lock, |cycle| report(found, cycle));
            dependencies.retain(|dependency| {
                dependency.wanted.lock != lock && dependency.held.iter().any(|held| held.lock != lock)
            });
        }
    }
}

fn is_like(a: &Hold, b: &Hold) -> bool {
    a.lock == b.lock && a.mode == b.mode && a.access.pc == b.access.pc
}

fn report(found: &mut FindingSet, cycle: &[&Dependency]) {
    let accesses = accesses(cycle);
    let is_handed_over =
        |a: &Dependency, b: &Dependency| !a.stamps.handed_over.is_concurrent_with(&b.stamps.handed_over);
    let mut pairs = cycle.iter().enumerate().flat_map(|(at, a)| cycle[..at].iter().map(move |b| (a, b)));
    let is_suspected = pairs.any(|(a, b)| is_handed_over(a, b));
    found.add(Finding {
        kind: FindingKind::Deadlock,
        certainty: if is_suspected { Certainty::Suspected } else { Certainty::Predicted },
        pattern: None,
        object: accesses[0].object,
        at: accesses.iter().map(|access| access.event).max().unwrap_or(0),
        locks: accesses.iter().step_by(2).map(|access| access.object).collect(),
        accesses,
        count: 1,
    });
}

impl Detector for Deadlock {
    fn name(&self) -> &'static str {
        "deadlocks"
    }

    fn observe(&mut self, index: usize, event: &Event) {
        let Some(kind) = event.kind() else { return };
        let acquires = kind.acquires_lock();
        // One who waits for a lock has not learned yet what its last holder knew.
        let request = acquires.then(|| self.stamps(event.thread));
        let change = self.synchronization.before(index, event, kind);
        if let Some(LockChange::Taken(lock, mode)) = change {
            let stamps = request.unwrap_or_else(|| self.stamps(event.thread));
            // A thread that would not have waited blocks nobody in a cycle.
            let waits = event.old == 0 || !acquires;
            self.taken(Access::of(index, event, kind), lock, mode, waits, stamps);
        }
        self.follow(event.thread, change);
        if let Some(touch) = AccessedBytes::looked_at(event, kind)
            .filter(|_| kind != EventKind::Free && !self.dependencies.is_empty())
        {
            self.hand_over(event.thread, touch);
        }
        if let Some((first, last)) = reused_range(event, kind) {
            self.values.forget(first, last);
            self.forget(first, last);
        } else if matches!(kind, kinds!(object)) {
            self.forget(event.addr, event.addr);
        }
        self.synchronization.after(event, kind);
    }

    fn findings(self: Box<Self>) -> Vec<Finding> {
        let mut found = self.found;
        CycleSearch::new(&self.dependencies).all(|cycle| report(&mut found, cycle));
        found.into_sorted()
    }
}
