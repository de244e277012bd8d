//! Traces that have not ended.

use threadbare_patterns::{Occurrence, PatternSet, TraceMatcher};
use threadbare_trace::{Event, ThreadId};
use threadbare_wire::OfferRecord;

use super::navigator::StoppedCopy;
use super::passed::{Distance, Passed};

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

/// The choices that lead to each trace, as a tree that shares beginnings.
pub(super) struct Paths {
    /// The choice, the place of the one before it, and the number of choices. The first entry is the
    /// empty path.
    choices: Vec<(usize, ThreadId, u64)>,
}

impl Paths {
    /// The place of the empty path.
    pub const START: usize = 0;

    pub fn new() -> Paths {
        Paths { choices: vec![(0, ThreadId::MAIN, 0)] }
    }

    /// The path extended by this choice.
    pub fn extend(&mut self, path: usize, thread: ThreadId) -> usize {
        self.choices.push((path, thread, self.depth(path) + 1));
        self.choices.len() - 1
    }

    /// The path before its last choice, and that choice.
    pub fn last(&self, path: usize) -> (usize, ThreadId) {
        let (before, thread, _) = self.choices[path];
        (before, thread)
    }

    /// How many choices a path has.
    pub fn depth(&self, path: usize) -> u64 {
        self.choices[path].2
    }

    /// All choices of a path, in order.
    pub fn choices(&self, path: usize) -> Vec<ThreadId> {
        let mut choices = Vec::new();
        let mut place = path;
        while place != Paths::START {
            let (before, thread) = self.last(place);
            choices.push(thread);
            place = before;
        }
        choices.reverse();
        choices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_share_beginnings_and_remember_their_choices() {
        let mut paths = Paths::new();
        let one = paths.extend(Paths::START, ThreadId(1));
        let two = paths.extend(one, ThreadId(2));
        let other = paths.extend(one, ThreadId(3));
        assert_eq!(paths.choices(two), [ThreadId(1), ThreadId(2)]);
        assert_eq!(paths.choices(other), [ThreadId(1), ThreadId(3)]);
        assert_eq!((paths.last(other), paths.depth(other)), ((one, ThreadId(3)), 2));
        assert!(paths.choices(Paths::START).is_empty());
    }
}
