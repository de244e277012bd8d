//! Less checking (§5.4): what has been checked for races once need not be checked again.

use std::collections::HashSet;

use threadbare_trace::Event;

use super::manners::{Manner, Manners, manner_occurrences};
use super::pairs::{MannerPair, concurrent_pairs};

/// What has been checked so far, over all executions of a program.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    groups: HashSet<Manners>,
    pairs: HashSet<(Manner, Manner)>,
    made: u64,
    saved: u64,
}

impl Checks {
    /// The concurrent-pairs of an execution whose access-manners have not met before; from now on they count as checked.
    ///
    /// In a race-equivalent group that is known there are none, except where a message kept two manners apart in the
    /// execution that was seen first.
    pub fn still_to_check(&mut self, events: &[Event]) -> Vec<MannerPair> {
        let occurrences = manner_occurrences(events);
        self.groups.insert(Manners::of_occurrences(&occurrences));
        let mut needed = Vec::new();
        for pair in concurrent_pairs(events, &occurrences) {
            let (one, other) = (pair.one.1.clone(), pair.other.1.clone());
            // A race is one whoever of the two does what.
            let key = if one <= other { (one, other) } else { (other, one) };
            if self.pairs.insert(key) {
                self.made += 1;
                needed.push(pair);
            } else {
                self.saved += 1;
            }
        }
        needed
    }

    /// Whether an execution with the same `MANNERS` has been seen.
    pub fn is_known_group(&self, manners: &Manners) -> bool {
        self.groups.contains(manners)
    }

    /// How many race-equivalent groups have been seen.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// How many pairs had to be checked.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// How many did not, because they had been checked before.
    pub fn saved(&self) -> u64 {
        self.saved
    }
}
