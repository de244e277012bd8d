//! Synchronization pairs (Hong et al., "Testing concurrent programs to achieve high synchronization coverage", §2):
//! two lock statements that take the same lock one right after the other.
//!
//! What an execution covers follows from its trace ([`shown`], Definition 2); the same thread may take the lock both
//! times. What is required is estimated from the first execution ([`estimate`]), or, if that one fails, from the first that
//! passes: threads that fail do only part of what they would. Pairs that executions show though they were not
//! expected are required from then on.

mod estimate;
mod lock_names;
mod lock_words;
mod model;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use self::estimate::estimate;
use self::lock_names::LockNames;
use self::lock_words::with_lock_words;
use super::{Criterion, ObservedExecution, PairSets, PlacePair, Total};

/// How closely infeasible pairs are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// By the acceptance conditions of the paper: held locks and thread creation.
    Paper,
    /// Also by joins, barriers, condition variables and the lock itself. As a wait need not happen in every
    /// execution, this may also leave out pairs that are feasible.
    Refined,
}

/// The pairs that an execution shows (Definition 2).
pub fn shown(seen: &ObservedExecution<'_>) -> BTreeSet<PlacePair> {
    let mut pairs = BTreeSet::new();
    let mut names = LockNames::default();
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    for event in with_lock_words(seen.events).iter() {
        let Some(kind) = event.kind() else { continue };
        names.observe(event, kind);
        if kind.acquires_lock() {
            let second = seen.place(event);
            if let Some(first) = last.insert(names.number(event.addr), second) {
                pairs.insert(PlacePair { first, second });
            }
        }
    }
    pairs
}

/// See the module's description.
pub struct SyncPairs {
    precision: Precision,
    pairs: PairSets,
    /// The estimate comes from an execution that passed; none if there is no estimate yet.
    is_from_passing: Option<bool>,
}

impl SyncPairs {
    /// Before the first execution.
    pub fn new(precision: Precision) -> SyncPairs {
        SyncPairs { precision, pairs: PairSets::default(), is_from_passing: None }
    }
}

impl Criterion for SyncPairs {
    fn name(&self) -> &'static str {
        match self.precision {
            Precision::Paper => "sp",
            Precision::Refined => "sp-refined",
        }
    }

    fn unit(&self) -> &'static str {
        "synchronization pairs"
    }

    fn observe(&mut self, seen: &ObservedExecution<'_>) {
        if self.is_from_passing.is_none_or(|passing| !passing && !seen.failed) {
            self.pairs.estimated = estimate(seen, self.precision);
            self.is_from_passing = Some(!seen.failed);
        }
        self.pairs.covered.extend(shown(seen));
    }

    fn covered(&self) -> u64 {
        self.pairs.covered.len() as u64
    }

    fn total(&self) -> Total {
        Total::Required(self.pairs.required())
    }

    fn pairs(&self) -> Option<PairSets> {
        Some(self.pairs.clone())
    }
}
