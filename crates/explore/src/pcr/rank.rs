//! In which order candidates are tried.

use std::cmp::Reverse;
use std::collections::HashSet;

use threadbare_analysis::patterns::SiteId;

use super::accesses::{Access, Accesses};

/// A candidate's place in the queue, the smallest first: uncovered patterns before covered ones, then those in which a
/// read sees what nobody has seen there, then longer ones. Of equal ones those of the latest execution come
/// first, which is the order of the recursion in Algorithm 2; of covered patterns, those of the earliest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Rank {
    is_covered: bool,
    class: u8,
    length: Reverse<usize>,
    age: i64,
    /// Where it comes among the candidates of its execution.
    pub(super) place: usize,
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
        let class = match self.novelty(candidate) {
            Novelty::Value => 0,
            Novelty::Sight if is_covered => 1,
            _ => 2,
        };
        let age = trace as i64;
        let age = if is_covered { age } else { -age };
        Rank { is_covered, class, length: Reverse(candidate.len()), age, place }
    }

    /// The rank of a read that shall see this: it is like a covered pattern.
    pub(super) fn rank_of_sight(&self, read: &Access, value: u64, (trace, place): (usize, usize)) -> Rank {
        let class = if self.has_seen(read.site, value) { 1 } else { 0 };
        Rank { is_covered: true, class, length: Reverse(1), age: trace as i64, place }
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
