//! What executions that passed have shown, and what it is worth to see something else.
//!
//! Whether a thread fails depends on what it has done and found. So a failure shows only where a thread finds
//! what none in its place has found, or where threads meet in an order that has not been seen: that is a
//! *feature*. Of what a place has shown so far, nothing has failed; by the rule of succession, one more
//! fails with a probability of one in two more than that.

use threadbare_trace::{Event, EventKind};

use super::hash::{Numbers, SharedTable, Table, mix, shared_table};
use super::program_state::ProgramState;

/// What it counts that a thread finds something that only others like it have found.
const ANOTHER_THREAD: f64 = 0.25;

/// Features that are remembered at most; then all is forgotten.
const MOST_FEATURES: usize = 1 << 22;

/// How much each kind of novelty counts in one execution.
#[derive(Clone, Copy, Debug)]
pub(in crate::strategies::ars) struct NoveltyWeights {
    /// What it counts when another thread shows what this execution itself has shown already.
    pub again: f64,
    /// What a memory-access pattern counts.
    pub pattern: f64,
}

/// Something that a step shows.
#[derive(Clone, Copy)]
struct Feature {
    number: u64,
    /// Others at the same place are of the same class.
    class: u64,
    weight: f64,
    /// Its weight the second time.
    again: f64,
}

/// What passed executions have shown.
#[derive(Default)]
pub(super) struct SeenFeatures {
    features: Numbers,
    /// How many features of a class have been seen.
    classes: Table<u64, u32>,
}

impl SeenFeatures {
    /// An execution has shown these.
    pub fn add(&mut self, gains: &Gains) {
        if self.features.len() >= MOST_FEATURES {
            *self = SeenFeatures::default();
        }
        for (number, class) in gains.features.iter() {
            if self.features.insert(*number) {
                *self.classes.entry(*class).or_default() += 1;
            }
        }
    }
}

/// What a growing trace shows that no passed one has shown.
#[derive(Clone)]
pub(super) struct Gains {
    /// Features and their classes.
    features: SharedTable<u64>,
    /// How many there are of a class.
    classes: SharedTable<u32>,
    worth: f64,
}

impl Default for Gains {
    fn default() -> Gains {
        Gains { features: shared_table(), classes: shared_table(), worth: 0.0 }
    }
}

impl Gains {
    /// What all of it is worth.
    pub fn worth(&self) -> f64 {
        self.worth
    }

    /// The next step, in the state before it.
    pub fn step(
        &mut self,
        state: &ProgramState,
        event: &Event,
        seen: &SeenFeatures,
        weights: &NoveltyWeights,
    ) {
        if !event.kind().is_some_and(EventKind::reads_value) {
            return;
        }
        let place = mix(event.pc, u64::from(event.kind));
        let value = mix(mix(place, event.addr), event.old);
        let situation = mix(mix(state.history(event.thread), place), event.old);
        let own = mix(situation, u64::from(event.thread.0) + 1);
        for (kind, number, weight, again) in [
            (1, value, 1.0, weights.again),
            (2, situation, 1.0, weights.again),
            (3, own, ANOTHER_THREAD, 0.0),
        ] {
            self.add(Feature { number: mix(number, kind), class: mix(place, kind), weight, again }, seen);
        }
    }

    /// A pattern that ends with a step.
    pub fn pattern(&mut self, event: &Event, key: u64, seen: &SeenFeatures, weights: &NoveltyWeights) {
        let (number, class) = (mix(key, 4), mix(event.pc, 4));
        self.add(Feature { number, class, weight: weights.pattern, again: 0.0 }, seen);
    }

    fn add(&mut self, feature: Feature, seen: &SeenFeatures) {
        if seen.features.contains(&feature.number) {
            return;
        }
        let before = seen.classes.get(&feature.class).copied().unwrap_or(0);
        if self.features.contains_key(&feature.number) {
            self.worth += feature.again / f64::from(before + 2);
            return;
        }
        let own = self.classes.get(&feature.class).copied().unwrap_or(0);
        self.worth += feature.weight / f64::from(before + own + 2);
        self.classes.insert_mut(feature.class, own + 1);
        self.features.insert_mut(feature.number, feature.class);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_trace::{EventKind, ThreadId};

    const WEIGHTS: NoveltyWeights = NoveltyWeights { again: 0.0, pattern: 1.0 };

    fn worth(seen: &SeenFeatures, pc: u64, value: u64) -> f64 {
        gains(seen, pc, value).worth()
    }

    fn gains(seen: &SeenFeatures, pc: u64, value: u64) -> Gains {
        let event =
            Event { pc, old: value, thread: ThreadId(1), kind: EventKind::Read as u8, ..Event::default() };
        let mut gains = Gains::default();
        gains.step(&ProgramState::default(), &event, seen, &WEIGHTS);
        gains
    }

    #[test]
    fn what_was_seen_is_worth_nothing_and_the_rest_the_less_the_more_its_place_has_shown() {
        let mut seen = SeenFeatures::default();
        let at_first = worth(&seen, 4, 1);
        seen.add(&gains(&seen, 4, 1));
        assert_eq!(worth(&seen, 4, 1), 0.0);
        assert!(worth(&seen, 4, 2) < at_first);
        assert_eq!(worth(&seen, 5, 1), at_first);
    }
}
