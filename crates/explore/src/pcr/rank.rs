//! In which order candidates are tried.

use std::cmp::Reverse;
use std::collections::HashSet;

use threadbare_analysis::patterns::SiteId;

use super::accesses::{Access, Accesses};

/// A candidate's place in the queue, the smallest first. Within a stage longer ones come first. Of equal ones those of
/// the latest execution come first if they are uncovered, which is the order of the recursion in Algorithm 2, and those
/// of the earliest otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Rank {
    stage: Stage,
    length: Reverse<usize>,
    age: i64,
    /// Where it comes among the candidates of its execution.
    pub(super) place: usize,
}

/// What is tried before what.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    /// Uncovered patterns in which a read sees what nobody has seen at that place in the code.
    UncoveredValue,
    /// Whatever else shows such a value.
    Value,
    /// Other uncovered patterns.
    Uncovered,
    /// Reads that see something else than they saw.
    Sight,
    /// The rest.
    Other,
}

/// What reads have seen in all executions.
#[derive(Default, Debug)]
pub(super) struct Sights {
    values: HashSet<(SiteId, u64)>,
}

impl Sights {
    /// Takes note of what the reads of an execution saw.
    pub(super) fn add(&mut self, accesses: &Accesses) {
        let reads = accesses.iter().filter(|access| !access.writes());
        self.values.extend(reads.filter_map(|read| Some((read.site, read.value()?))));
    }

    /// The rank of a candidate of an execution.
    pub(super) fn rank(
        &self,
        is_covered: bool,
        candidate: &[&Access],
        (trace, place): (usize, usize),
    ) -> Rank {
        let stage = match (self.novelty(candidate), is_covered) {
            (Novelty::Value, false) => Stage::UncoveredValue,
            (Novelty::Value, true) => Stage::Value,
            (_, false) => Stage::Uncovered,
            (Novelty::Sight, true) => Stage::Sight,
            (Novelty::Nothing, true) => Stage::Other,
        };
        let age = trace as i64;
        let age = if is_covered { age } else { -age };
        Rank { stage, length: Reverse(candidate.len()), age, place }
    }

    /// The rank of a read that shall see this.
    pub(super) fn rank_of_sight(&self, read: &Access, value: u64, (trace, place): (usize, usize)) -> Rank {
        let stage = if self.has_seen(read.site, value) { Stage::Sight } else { Stage::Value };
        Rank { stage, length: Reverse(1), age: trace as i64, place }
    }

    /// The newest that a read of the candidate sees.
    fn novelty(&self, candidate: &[&Access]) -> Novelty {
        let seen = candidate.iter().enumerate().filter(|(_, read)| !read.writes()).map(|(at, read)| {
            let source = candidate[..at].iter().rev().find(|access| access.object == read.object);
            match source.filter(|source| source.writes() && !source.leaves_what_was_seen_by(read)) {
                None => Novelty::Nothing,
                Some(source) if source.value().is_some_and(|value| self.has_seen(read.site, value)) => {
                    Novelty::Sight
                }
                Some(_) => Novelty::Value,
            }
        });
        seen.max().unwrap_or(Novelty::Nothing)
    }

    fn has_seen(&self, site: SiteId, value: u64) -> bool {
        self.values.contains(&(site, value))
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Novelty {
    Nothing,
    /// The read sees something else than it saw.
    Sight,
    /// It sees something that nobody has seen at that place in the code.
    Value,
}
