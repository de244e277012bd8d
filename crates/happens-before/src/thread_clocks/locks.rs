//! What threads learn of each other where they take and release locks.

use std::sync::Arc;

use threadbare_trace::ThreadId;

use super::{Rules, ThreadClocks, is_known_to_all};
use crate::clocks::VectorClock;

/// A lock as the observed run knows it.
#[derive(Default)]
pub(super) struct Lock {
    /// What the last one to hold it alone knew when it released it.
    written: VectorClock,
    /// What the readers since then knew.
    read: VectorClock,
    owner: Option<ThreadId>,
}

impl ThreadClocks {
    /// A thread takes a lock, alone or with others.
    pub(super) fn acquire(&mut self, thread: ThreadId, lock: u64, alone: bool) {
        if lock == 0 || !self.rules.count_sections() {
            return;
        }
        if self.rules != Rules::Observed {
            let clock = Arc::clone(self.clock(thread));
            if let Some(learned) = self.sections.entry(lock).enter(thread, alone, &clock) {
                self.learn(thread, &learned);
            }
            return;
        }
        let place = self.locks.entry(lock);
        let mut clock = place.written.clone();
        if alone {
            clock.join(&place.read);
        }
        // A thread may have ended with a robust lock in its hands.
        let owner = std::mem::take(&mut place.owner);
        if alone {
            place.owner = Some(thread);
        }
        if let Some(owner) = owner.filter(|owner| *owner != thread)
            && let Some(Some(owner)) = self.threads.get(owner.index())
            && !owner.alive
        {
            clock.join(&owner.clock);
        }
        self.learn(thread, &clock);
    }

    /// A thread releases a lock.
    pub(super) fn release(&mut self, thread: ThreadId, lock: u64) {
        if !self.rules.count_sections() {
            return;
        }
        let clock = Arc::clone(self.clock(thread));
        if self.rules == Rules::Observed {
            let place = self.locks.entry(lock);
            if place.owner == Some(thread) {
                place.owner = None;
                place.written.copy_from(&clock);
                place.read.clear();
            } else {
                place.read.join(&clock);
            }
            self.tick(thread);
            return;
        }
        let known = self.sections.entry(lock).leave(thread, &clock);
        if known {
            let ThreadClocks { sections, threads, .. } = self;
            sections.entry(lock).thin_out(|epoch| is_known_to_all(threads, epoch));
        }
        if self.rules == Rules::HandedOver {
            self.releases.insert((lock, thread.0), clock);
        }
        if known || self.rules == Rules::HandedOver {
            self.tick(thread);
        }
    }

    /// The thread has read a value that `from` wrote, both under this lock: what came before the
    /// value was written and released is known.
    pub fn hand_over(&mut self, lock: u64, from: ThreadId, to: ThreadId) {
        if let Some(clock) = self.releases.get(&(lock, from.0)) {
            let clock = Arc::clone(clock);
            self.learn(to, &clock);
        }
    }
}
