//! Two consecutive accesses of a thread to a variable.

use threadbare_happens_before::LockSetId;
use threadbare_patterns::unserializable;
use threadbare_trace::ThreadId;

use super::stamped_access::StampedAccess;

/// Two consecutive accesses. There may be many for a variable, and most are passed over: what is asked first lies
/// together in memory, separate from the rest.
#[derive(Clone)]
pub struct ConsecutivePair {
    thread: ThreadId,
    time: u32,
    sites: (u64, u64),
    writes: (bool, bool),
    steps: Box<(StampedAccess, StampedAccess)>,
    /// The sets of locks held at one time or another from the first to the second.
    pub gaps: Vec<LockSetId>,
}

impl ConsecutivePair {
    pub fn new(p: StampedAccess, c: StampedAccess, gaps: Vec<LockSetId>) -> ConsecutivePair {
        ConsecutivePair {
            thread: p.access.thread,
            time: p.enforced.epoch.time,
            sites: (p.access.pc, c.access.pc),
            writes: (p.writes, c.writes),
            steps: Box::new((p, c)),
            gaps,
        }
    }

    pub fn p(&self) -> &StampedAccess {
        &self.steps.0
    }

    pub fn c(&self) -> &StampedAccess {
        &self.steps.1
    }

    pub fn is_like(&self, other: &ConsecutivePair) -> bool {
        self.sites == other.sites
            && self.thread == other.thread
            && self.p().is_like(other.p())
            && self.c().is_like(other.c())
            && self.gaps == other.gaps
            // Of atomics those that follow each other at once are worse, so they must not be replaced.
            && (!self.p().atomic || self.is_adjacent() == other.is_adjacent())
    }

    /// Whether the thread made no step between the two.
    pub fn is_adjacent(&self) -> bool {
        self.c().number == self.p().number + 1
    }

    /// The pattern that the pair makes with an access of another thread.
    #[inline]
    pub fn pattern(&self, reads: bool, writes: bool) -> Option<u8> {
        let (p, c) = self.writes;
        let with = |remote_writes: bool| unserializable(p, remote_writes, c);
        let as_write = if writes { with(true) } else { None };
        as_write.or_else(|| if reads { with(false) } else { None })
    }

    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// Whether a step after both in the trace is worth a closer look: it does not have to come after the first.
    #[inline]
    pub fn can_be_torn_by_later(&self, r: &StampedAccess) -> bool {
        r.access.thread != self.thread
            && r.enforced.clock.get(self.thread) < self.time
            && self.pattern(r.reads, r.writes).is_some()
    }
}
