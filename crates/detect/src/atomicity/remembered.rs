//! Steps by the same code that differ in what their threads knew.

use threadbare_happens_before::{Epoch, LockSetId};
use threadbare_trace::{EventKind, ThreadId};

use super::consecutive_pair::ConsecutivePair;
use super::stamped_access::StampedAccess;

/// How many such steps are kept. Beyond, some in the middle are forgotten.
const KEPT: usize = 8;

/// The steps of one thread at one site under the same locks, oldest first. A step replaces the last one
/// if the thread has learned nothing since: then whatever is concurrent with the older one is with the
/// younger one too.
#[derive(Clone)]
pub struct Remembered {
    pc: u64,
    thread: ThreadId,
    kind: EventKind,
    reads: bool,
    writes: bool,
    locks: LockSetId,
    /// The time of the last one.
    latest: u32,
    steps: Vec<StampedAccess>,
}

impl Remembered {
    pub fn new(step: StampedAccess) -> Remembered {
        Remembered {
            pc: step.access.pc,
            thread: step.access.thread,
            kind: step.access.kind,
            reads: step.reads,
            writes: step.writes,
            locks: step.locks,
            latest: step.enforced.epoch.time,
            steps: vec![step],
        }
    }

    pub fn steps(&self) -> &[StampedAccess] {
        &self.steps
    }

    /// Whether the step belongs here.
    #[inline]
    pub fn is_of(&self, step: &StampedAccess) -> bool {
        self.pc == step.access.pc
            && self.thread == step.access.thread
            && self.kind == step.access.kind
            && self.locks == step.locks
    }

    /// Whether any of them is worth a closer look: the last one does not have to come before the pair's second access.
    #[inline]
    pub fn can_tear(&self, pair: &ConsecutivePair) -> bool {
        self.thread != pair.thread()
            && self.latest > pair.c().enforced.clock.get(self.thread)
            && pair.pattern(self.reads, self.writes).is_some()
    }

    /// Adds a step; `is_known_to_all` says which moments happen before everything that is still to come.
    pub fn push(&mut self, step: StampedAccess, is_known_to_all: impl Fn(Epoch) -> bool) {
        self.latest = step.enforced.epoch.time;
        if let Some(last) = self.steps.last_mut()
            && last.enforced.clock.differs_only_in(self.thread, &step.enforced.clock)
            && last.handed_over.clock.differs_only_in(self.thread, &step.handed_over.clock)
        {
            *last = step;
            return;
        }
        self.steps.push(step);
        if self.steps.len() > KEPT {
            self.steps.retain(|step| !is_known_to_all(step.enforced.epoch));
        }
        if self.steps.len() > KEPT {
            self.steps.remove(KEPT / 2);
        }
    }
}
