//! Races by locks and enforced order (the hybrid detector of "Efficient Concurrency-Bug Detection Across
//! Inputs", §2.1).
//!
//! Two accesses are reported if they touch the same byte from different threads, at least one
//! writes, not both are atomic, no lock is held at both (a read-write lock only counts if one of them
//! holds it for writing), and neither comes before the other by synchronization that enforces an
//! order. The order in which locks were taken counts for nothing: it may be another one in the next run.
//!
//! A pair is only *suspected* if between the two accesses a value was handed over under a lock: a
//! flag that is set and seen under a lock orders what is around it, as long as the other thread waits for it.

use threadbare_trace::Event;

use super::Search;
use crate::detector::Detector;
use crate::finding::Finding;

/// Finds races that may happen in runs other than the observed one.
pub struct Hybrid {
    search: Search,
}

impl Default for Hybrid {
    fn default() -> Self {
        Hybrid { search: Search::predicted() }
    }
}

impl Hybrid {
    /// Finds those, too, of signal handlers with what they interrupt.
    pub(crate) fn of_interrupts() -> Hybrid {
        Hybrid { search: Search::of_interrupts() }
    }

    /// How many words of memory were remembered at most.
    pub fn peak_locations(&self) -> usize {
        self.search.memory.peak()
    }
}

impl Detector for Hybrid {
    fn name(&self) -> &'static str {
        "hybrid races"
    }

    #[inline]
    fn observe(&mut self, index: usize, event: &Event) {
        self.search.observe(index, event);
    }

    fn findings(self: Box<Self>) -> Vec<Finding> {
        self.search.found.findings
    }
}
