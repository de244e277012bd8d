//! Less checking (§5.4): what has been checked for races once need not be checked again.

use std::collections::{HashMap, HashSet};

use threadbare_trace::{Event, EventKind};

use super::manners::{AccessManner, MannerOccurrence, Manners, manner_occurrences};
use super::pairs::{MannerPair, concurrent_pairs, is_no_race};

/// How many access-manners of an execution are compared with each other, each with each: a tenth of a second's worth. With more of them it costs
/// less to look for races than to find out that there is no need to.
const COMPARED: usize = 500;

/// What has been checked so far, over all executions of a program.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    groups: HashSet<Manners>,
    /// Every two access-manners that could be concurrent, with whether they can be so without a race.
    pairs: HashMap<(AccessManner, AccessManner), bool>,
    saved: u64,
    cleared: u64,
}

impl Checks {
    /// The concurrent-pairs of an execution that may race. Algorithm 1 is asked about those that have not been concurrent in any
    /// execution before; for all others its answer is known.
    ///
    /// The pairs are those of the execution, and not of its race-equivalent group: where a message orders two manners
    /// in one member of a group, they may be concurrent in another.
    pub fn may_race(&mut self, events: &[Event]) -> Vec<MannerPair> {
        let occurrences = manner_occurrences(events);
        self.groups.insert(Manners::of_occurrences(&occurrences));
        self.suspicious(events, &occurrences)
    }

    fn suspicious(&mut self, events: &[Event], occurrences: &[MannerOccurrence]) -> Vec<MannerPair> {
        let mut suspicious = Vec::new();
        for pair in concurrent_pairs(events, occurrences) {
            let (one, other) = (pair.one.1.clone(), pair.other.1.clone());
            // A race is one whoever of the two does what.
            let key = if one <= other { (one, other) } else { (other, one) };
            let is_clear = match self.pairs.get(&key) {
                Some(known) => {
                    self.saved += 1;
                    *known
                }
                None => {
                    let is_clear = is_no_race(&key.0, &key.1);
                    self.pairs.insert(key, is_clear);
                    is_clear
                }
            };
            if !is_clear {
                suspicious.push(pair);
            }
        }
        suspicious
    }

    /// Whether a race detector has to look at an execution. A handler is ordered with what it interrupts, so that the two are no
    /// concurrent-pair and yet may race.
    pub fn need_a_look(&mut self, events: &[Event]) -> bool {
        let has_handlers = events.iter().any(|event| event.kind() == Some(EventKind::Signal));
        let occurrences = manner_occurrences(events);
        self.groups.insert(Manners::of_occurrences(&occurrences));
        let are_too_many = occurrences.len() > COMPARED;
        let needed = are_too_many || !self.suspicious(events, &occurrences).is_empty() || has_handlers;
        self.cleared += u64::from(!needed);
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
        self.pairs.len() as u64
    }

    /// How many did not, because they had been checked before.
    pub fn saved(&self) -> u64 {
        self.saved
    }

    /// How many executions no race detector had to look at.
    pub fn cleared(&self) -> u64 {
        self.cleared
    }
}
