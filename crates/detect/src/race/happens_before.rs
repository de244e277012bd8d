//! Races by happens-before.
//!
//! Two accesses are reported if they touch the same byte from different threads, at least one
//! writes, not both are atomic, and neither happened before the other in the observed run, the order in which
//! locks were taken included. That is no prediction: the two were not ordered by anything, so a machine may
//! make them at the same time.
//!
//! Whether an access is ordered after all those before it is asked of epochs, as FastTrack does.
//! Only if it is not, the accesses are looked at one by one, so that every pair is named and
//! not only the first.

use threadbare_trace::Event;

use super::Search;
use crate::detector::Detector;
use crate::finding::Finding;

/// Finds races of the observed run.
pub struct HappensBefore {
    search: Search,
}

impl Default for HappensBefore {
    fn default() -> Self {
        HappensBefore { search: Search::observed() }
    }
}

impl HappensBefore {
    /// How many words of memory were remembered at most.
    pub fn peak_locations(&self) -> usize {
        self.search.memory.peak()
    }
}

impl Detector for HappensBefore {
    fn name(&self) -> &'static str {
        "happens-before races"
    }

    #[inline]
    fn observe(&mut self, index: usize, event: &Event) {
        self.search.observe(index, event);
    }

    fn findings(self: Box<Self>) -> Vec<Finding> {
        self.search.found.findings
    }
}
