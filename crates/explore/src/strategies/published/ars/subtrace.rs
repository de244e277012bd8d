//! Traces that have not ended.

use threadbare_patterns::{Occurrence, PatternSet, TraceMatcher};
use threadbare_trace::Event;
use threadbare_wire::OfferRecord;

use super::passed::{Distance, Passed};
use crate::strategies::ars::StoppedCopy;

/// What a growing trace has shown, and how far that is from the passed ones.
#[derive(Clone)]
pub(super) struct Growth {
    matcher: TraceMatcher,
    distance: Distance,
}

impl Growth {
    /// A trace without events.
    pub fn start(passed: &Passed) -> Growth {
        Growth { matcher: TraceMatcher::default(), distance: passed.start() }
    }

    /// The same trace with more events.
    pub fn with(&self, events: &[Event], passed: &Passed) -> Growth {
        let mut grown = self.clone();
        let mut found: Vec<Occurrence> = Vec::new();
        for event in events {
            grown.matcher.observe(event, &mut found);
            found.drain(..).for_each(|occurrence| passed.grow(&mut grown.distance, occurrence.key));
        }
        grown
    }

    /// The same trace, measured again: more traces have passed.
    pub fn afresh(&self, passed: &Passed) -> Growth {
        let mut distance = passed.start();
        self.patterns().iter().for_each(|key| passed.grow(&mut distance, key));
        Growth { distance, ..self.clone() }
    }

    /// How far it is from the passed traces.
    pub fn distance(&self) -> u64 {
        self.distance.nearest()
    }

    /// How many events it has.
    pub fn events(&self) -> usize {
        self.matcher.events()
    }

    /// The patterns so far.
    pub fn patterns(&self) -> &PatternSet {
        self.matcher.patterns()
    }
}

/// A trace that has come to a decision.
pub(super) struct Decision {
    pub copy: StoppedCopy,
    /// The enabled threads.
    pub offers: Vec<OfferRecord>,
    pub growth: Growth,
}

/// A trace in the queue.
pub(super) struct SubTrace {
    /// The decision it has come to.
    pub decision: Decision,
    pub rank: Rank,
}

/// The greater, the sooner a trace is extended: the distance decides, and then a random number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub distance: u64,
    pub tie: u64,
}
