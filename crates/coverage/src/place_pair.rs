//! Requirements that are pairs of places in the code.

use std::collections::BTreeSet;

/// Two places, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlacePair {
    /// The earlier one, as a code address.
    pub first: u64,
    /// The later one.
    pub second: u64,
}

/// What a criterion over pairs takes to be possible, and what was shown.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PairSets {
    /// The pairs that were taken to be possible, without those that only turned out to be.
    pub estimated: BTreeSet<PlacePair>,
    /// The pairs that executions have shown.
    pub covered: BTreeSet<PlacePair>,
}

impl PairSets {
    /// The pairs that were estimated but not shown: not yet, or they are infeasible.
    pub fn uncovered(&self) -> impl Iterator<Item = PlacePair> {
        self.estimated.difference(&self.covered).copied()
    }

    /// The pairs that were shown though nobody had expected them.
    pub fn unexpected(&self) -> impl Iterator<Item = PlacePair> {
        self.covered.difference(&self.estimated).copied()
    }

    /// All pairs that are known to be required.
    pub fn required(&self) -> u64 {
        (self.estimated.len() + self.unexpected().count()) as u64
    }

    /// Adds what another campaign has shown.
    pub fn add_covered(&mut self, other: &PairSets) {
        self.covered.extend(&other.covered);
    }
}
