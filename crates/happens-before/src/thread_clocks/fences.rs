//! Fences, and atomic steps that order nothing without them.
//!
//! A relaxed load sees what was released, and its thread knows of it from the next acquiring fence on. A relaxed store
//! releases what its thread knew at its last releasing fence. Fences in both directions are taken to be ordered among
//! each other: the strongest ones are, by way of any location, and which ones those are is not recorded.
//!
//! All this is about the observed run. Where it is asked what another run would enforce, the order of locks does not
//! count, and a relaxed step under a lock is as good as any: there every atomic step orders.

use std::sync::Arc;

use threadbare_trace::{Event, ThreadId};

use super::{Rules, ThreadClocks};
use crate::clocks::VectorClock;

/// What a thread has to do with fences.
#[derive(Default)]
pub struct Fences {
    /// What it has seen without acquiring it.
    unacquired: VectorClock,
    /// What it knew when it last made a releasing fence.
    released: Option<Arc<VectorClock>>,
}

impl ThreadClocks {
    /// Whether an atomic step makes its thread know what was released.
    pub(super) fn acquires(&self, event: &Event) -> bool {
        event.acquires() || self.rules != Rules::Observed
    }

    /// Whether an atomic step lets others know what its thread knows.
    pub(super) fn releases(&self, event: &Event) -> bool {
        event.releases() || self.rules != Rules::Observed
    }

    /// The thread sees what was released at a location, and does not acquire it.
    pub(super) fn see_unacquired(&mut self, thread: ThreadId, addr: u64) {
        if let Some(place) = self.atomics.get(addr) {
            let clock = place.clock.clone();
            self.thread(thread).fences.unacquired.join(&clock);
        }
    }

    /// What the thread releases by a step that does not do so itself.
    pub(super) fn released_by_fence(&mut self, thread: ThreadId) -> Option<Arc<VectorClock>> {
        self.thread(thread).fences.released.clone()
    }

    /// The acquiring part of a fence.
    pub(super) fn acquire_by_fence(&mut self, event: &Event) {
        if event.acquires() && self.rules == Rules::Observed {
            let seen = std::mem::take(&mut self.thread(event.thread).fences.unacquired);
            self.learn(event.thread, &seen);
            if event.releases() {
                let known = self.fences.clone();
                self.learn(event.thread, &known);
            }
        }
    }

    /// The releasing part of a fence.
    pub(super) fn release_by_fence(&mut self, event: &Event) {
        if event.releases() && self.rules == Rules::Observed {
            let clock = Arc::clone(self.clock(event.thread));
            if event.acquires() {
                self.fences.join(&clock);
            }
            self.thread(event.thread).fences.released = Some(clock);
            self.tick(event.thread);
        }
    }
}
