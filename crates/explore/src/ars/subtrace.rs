//! Traces that have not ended.

use threadbare_analysis::patterns::{Occurrence, PatternSet, TraceMatcher};
use threadbare_trace::{Event, EventKind, ThreadId};
use threadbare_wire::OfferRecord;

use super::footprint::Footprint;
use super::ground::Standing;
use super::passed::{Distance, Passed};

/// What a growing trace has shown, and how far that is from the passed ones.
#[derive(Clone)]
pub(super) struct Growth {
    matcher: TraceMatcher,
    distance: Distance,
    pub footprint: Footprint,
}

impl Growth {
    /// A trace without events.
    pub fn start(passed: &Passed) -> Growth {
        Growth {
            matcher: TraceMatcher::default(),
            distance: passed.start(),
            footprint: Footprint::default(),
        }
    }

    /// The same trace with more events.
    pub fn with(&self, events: &[Event], passed: &Passed) -> Growth {
        let mut grown = self.clone();
        let mut found: Vec<Occurrence> = Vec::new();
        for event in events {
            grown.matcher.observe(event, &mut found);
            found.drain(..).for_each(|occurrence| passed.grow(&mut grown.distance, occurrence.key, occurrence.pattern));
            grown.footprint.observe(event);
        }
        grown
    }

    /// The same trace, measured again: more traces have passed.
    pub fn afresh(&self, passed: &Passed) -> Growth {
        let mut distance = passed.start();
        self.patterns().iter().for_each(|key| passed.grow(&mut distance, key, 1));
        Growth { distance, ..self.clone() }
    }

    /// The patterns so far.
    pub fn patterns(&self) -> &PatternSet {
        self.matcher.patterns()
    }
}

/// A trace that has come to a decision.
pub(super) struct Decision {
    pub standing: Standing,
    /// The threads that can go on.
    pub offers: Vec<OfferRecord>,
    pub growth: Growth,
}

/// A trace in the queue.
pub(super) struct SubTrace {
    /// The decision it has come to, if its last step has been made. Otherwise only the
    /// operation is known that the step begins with.
    pub decision: Result<Decision, Ahead>,
    pub rank: Rank,
}

/// A step that has not been made.
pub(super) struct Ahead {
    pub path: usize,
    /// What the trace shows without the step.
    pub growth: Growth,
}

/// The greater, the sooner a trace goes on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub distance: (u64, u64, u64),
    /// How rarely its last step was taken before, from where it was taken.
    pub novelty: u32,
    /// Decides between traces that are equally far.
    pub tie: u64,
}

impl Growth {
    /// The distance to the nearest of the passed traces.
    pub fn distance(&self) -> (u32, u64, u64) {
        (self.distance.nearest(), self.distance.rarity(), self.distance.patterns())
    }

    /// The distance once the offered step is made, as far as its operation tells.
    pub fn distance_with(&self, offer: &OfferRecord, passed: &Passed) -> (u32, u64, u64) {
        let Some(kind) = EventKind::from_number(offer.kind).filter(|kind| kind.accesses_memory()) else {
            return self.distance();
        };
        let event = Event {
            pc: offer.site,
            addr: offer.object,
            value: u64::from(offer.size),
            thread: offer.thread,
            kind: kind as u8,
            size: u8::try_from(offer.size).unwrap_or(u8::MAX),
            ..Event::default()
        };
        let (mut matcher, mut distance) = (self.matcher.clone(), self.distance.clone());
        let mut found = Vec::new();
        matcher.observe(&event, &mut found);
        found.iter().for_each(|occurrence| passed.grow(&mut distance, occurrence.key, occurrence.pattern));
        (distance.nearest(), distance.rarity(), distance.patterns())
    }
}

/// The choices that lead to each trace, as a tree that shares beginnings.
pub(super) struct Paths {
    /// The choice and the place of the one before it. The first entry stands for no choice.
    choices: Vec<(usize, ThreadId)>,
}

impl Paths {
    /// The place of the empty path.
    pub const START: usize = 0;

    pub fn new() -> Paths {
        Paths { choices: vec![(0, ThreadId::MAIN)] }
    }

    /// The path that goes on with this choice.
    pub fn extend(&mut self, path: usize, thread: ThreadId) -> usize {
        self.choices.push((path, thread));
        self.choices.len() - 1
    }

    /// The path before its last choice, and that choice.
    pub fn last(&self, path: usize) -> (usize, ThreadId) {
        self.choices[path]
    }

    /// All choices of a path, in order.
    pub fn choices(&self, path: usize) -> Vec<ThreadId> {
        let mut choices = Vec::new();
        let mut place = path;
        while place != Paths::START {
            let (before, thread) = self.choices[place];
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
        assert_eq!(paths.last(other), (one, ThreadId(3)));
        assert!(paths.choices(Paths::START).is_empty());
    }
}
