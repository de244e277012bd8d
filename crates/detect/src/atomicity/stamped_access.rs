//! An access with all that is needed to ask whether another one can come before, after or between.

use std::sync::Arc;

use threadbare_happens_before::{AccessedBytes, HeldLock, LockSetId, Stamp};
use threadbare_trace::{Event, EventKind};

use crate::finding::Access;
use crate::synchronization::Synchronization;

/// An access.
#[derive(Clone)]
pub struct StampedAccess {
    pub access: Access,
    pub reads: bool,
    pub writes: bool,
    pub atomic: bool,
    pub locks: LockSetId,
    pub held: Arc<Vec<HeldLock>>,
    pub enforced: Stamp,
    pub handed_over: Stamp,
    /// Which visible step of its thread it is.
    pub number: u64,
}

impl StampedAccess {
    pub fn new(
        s: &mut Synchronization,
        index: usize,
        event: &Event,
        kind: EventKind,
        touch: AccessedBytes,
        number: u64,
    ) -> StampedAccess {
        let thread = event.thread;
        StampedAccess {
            access: Access::of(index, event, kind),
            reads: touch.reads,
            writes: touch.writes,
            atomic: touch.atomic,
            locks: s.locks.current(thread),
            held: Arc::clone(s.locks.held(thread)),
            enforced: s.enforced.stamp(thread),
            handed_over: s.handed_over.stamp(thread),
            number,
        }
    }

    pub fn is_update(&self) -> bool {
        self.reads && self.writes
    }

    /// Whether neither is enforced to come before the other.
    pub fn may_swap_with(&self, other: &StampedAccess) -> bool {
        self.enforced.is_concurrent_with(&other.enforced)
    }

    /// Whether a value handed over under a lock orders the two.
    pub fn is_handed_over(&self, other: &StampedAccess) -> bool {
        !self.handed_over.is_concurrent_with(&other.handed_over)
    }

    /// Whether the thread waited on a condition in the critical section of this step.
    pub fn waited(&self) -> bool {
        self.held.iter().any(|held| held.waited)
    }

    /// Whether it is the same code under the same locks.
    pub fn is_like(&self, other: &StampedAccess) -> bool {
        let (a, b) = (&self.access, &other.access);
        a.pc == b.pc && a.thread == b.thread && a.kind == b.kind && self.locks == other.locks
    }
}
