//! Who accessed a piece of memory, as far as it can still matter.

use threadbare_happens_before::{Epoch, Frontier, LockSetId, ThreadClocks, VectorClock};
use threadbare_trace::{EventKind, ThreadId};

use crate::synchronization::LastValue;

/// An access. Of several by the same thread and code under the same locks only the last one is kept: whatever
/// is concurrent with an earlier one is concurrent with it too.
#[derive(Clone, Debug)]
pub struct Entry {
    pub pc: u64,
    /// Its place in the trace; small, for there are many of these.
    pub event: u32,
    /// The time of its thread.
    pub time: u32,
    /// The time of its thread where values are handed over.
    pub handed_over: u32,
    pub locks: LockSetId,
    pub context: u32,
    pub thread: ThreadId,
    pub kind: EventKind,
    pub writes: bool,
    pub atomic: bool,
}

impl Entry {
    pub fn epoch(&self) -> Epoch {
        Epoch { thread: self.thread, time: self.time }
    }

    #[inline]
    fn is_like(&self, other: &Entry) -> bool {
        self.pc == other.pc
            && self.thread == other.thread
            && self.locks == other.locks
            && self.kind == other.kind
    }
}

/// How many entries are looked through before it is asked which of them still matter.
const FEW: u32 = 4;

/// The accesses to a piece of memory.
#[derive(Clone)]
pub struct History {
    /// In order of threads.
    entries: Vec<Entry>,
    /// The last access: its code, kind, thread and time.
    last: (u64, EventKind, ThreadId, u32),
    last_locks: LockSetId,
    /// When it is time to thin out.
    limit: u32,
    /// The locks that all accesses have held: in whatever mode, and alone.
    any: u64,
    exclusive: u64,
    reads: Frontier,
    writes: Frontier,
    /// Reads and writes that are atomic, where there are any.
    atomics: Option<Box<(Frontier, Frontier)>>,
    /// Who wrote it last.
    pub value: LastValue,
}

impl Default for History {
    fn default() -> Self {
        History {
            entries: Vec::new(),
            last: (0, EventKind::Fence, ThreadId::MAIN, 0),
            last_locks: LockSetId::EMPTY,
            limit: FEW,
            any: u64::MAX,
            exclusive: u64::MAX,
            reads: Frontier::Empty,
            writes: Frontier::Empty,
            atomics: None,
            value: LastValue::default(),
        }
    }
}

impl History {
    /// Whether the access repeats the last one, with no synchronization in between.
    #[inline]
    pub fn has_just_seen(&self, new: &Entry) -> bool {
        self.last == (new.pc, new.kind, new.thread, new.time) && self.last_locks == new.locks
    }

    /// Whether every access that conflicts with the new one came before it.
    #[inline]
    pub fn is_before(&self, new: &Entry, clock: &VectorClock) -> bool {
        self.writes.is_covered_by(clock)
            && (!new.writes || self.reads.is_covered_by(clock))
            && (new.atomic
                || self.atomics.as_ref().is_none_or(|atomics| {
                    let (reads, writes) = &**atomics;
                    writes.is_covered_by(clock) && (!new.writes || reads.is_covered_by(clock))
                }))
    }

    /// Whether one lock excludes an access with these locks from all others.
    #[inline]
    pub fn is_excluded(&self, (any, exclusive): (u64, u64)) -> bool {
        self.any & exclusive | self.exclusive & any != 0
    }

    /// The accesses that conflict with the new one and did not come before it.
    pub fn conflicts<'a>(
        &'a self,
        new: &'a Entry,
        clock: &'a VectorClock,
    ) -> impl Iterator<Item = &'a Entry> + 'a {
        self.entries.iter().filter(move |old| {
            old.thread != new.thread
                && (old.writes || new.writes)
                && !(old.atomic && new.atomic)
                && !clock.covers(old.epoch())
        })
    }

    /// Adds an access by a thread that knows this and holds these locks.
    #[inline]
    pub fn push(&mut self, new: &Entry, clock: &VectorClock, (any, exclusive): (u64, u64)) {
        let frontier = match (new.atomic, new.writes) {
            (false, false) => &mut self.reads,
            (false, true) => &mut self.writes,
            (true, false) => &mut self.atomics.get_or_insert_default().0,
            (true, true) => &mut self.atomics.get_or_insert_default().1,
        };
        frontier.push(new.epoch(), clock);
        self.last = (new.pc, new.kind, new.thread, new.time);
        self.last_locks = new.locks;
        if new.writes {
            self.value.written(new.thread, new.locks);
        }
        let first = self.entries.partition_point(|old| old.thread < new.thread);
        let own = self.entries[first..].iter().take_while(|old| old.thread == new.thread);
        let mut place = first;
        for old in own {
            if old.is_like(new) {
                self.entries[place] = new.clone();
                return;
            }
            place += 1;
        }
        self.any &= any;
        self.exclusive &= exclusive;
        self.entries.insert(place, new.clone());
    }

    /// Drops what comes before everything that is still to come, whenever the entries have doubled.
    #[inline]
    pub fn thin_out(&mut self, order: &mut ThreadClocks) {
        if self.entries.len() < self.limit as usize {
            return;
        }
        let floor = order.floor();
        self.entries.retain(|entry| !floor.covers(entry.epoch()));
        self.limit = FEW.max(2 * self.entries.len() as u32);
        if self.entries.is_empty() {
            (self.any, self.exclusive) = (u64::MAX, u64::MAX);
        }
    }
}
