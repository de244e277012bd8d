//! In which order candidates are tried.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use threadbare_order::{Forest, MemoryRange};
use threadbare_patterns::SiteId;

use super::accesses::{Access, Accesses};

/// A candidate's place in the queue, the smallest first. Within a stage those come first whose focus was tried least,
/// so that no place in the code keeps the others waiting, however many patterns it takes part in; and of those the
/// longer ones. Of equal ones those of the latest execution come first if they are uncovered, which is the order of the
/// recursion in Algorithm 2, and those of the earliest otherwise.
///
/// Patterns that are merely uncovered promise nothing that a thread would notice, and often keep that promise. Reads that
/// would see something else, without a pattern, do promise something; but there may be many, and most patterns are
/// worth more. So such reads wait until executions show nothing new, and are then tried in turn with the patterns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Rank {
    stage: Stage,
    /// Patterns have the even ones, reads without a pattern the odd ones.
    turn: u32,
    tries: u32,
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
    /// Patterns, covered or not, in which a read sees something else than it saw, and other uncovered ones; in turn with
    /// reads that see something else without a pattern.
    UncoveredOrReadValue,
    /// Whatever of these leads a thread to where it has been already.
    Known,
    /// The rest.
    Other,
}

/// What a candidate is mainly about: the place in the code that sees something new; or, where there is none, the first
/// and the last of its places in the order of the code, which all orders of the same accesses have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Focus {
    Read(SiteId),
    Among(SiteId, SiteId),
}

/// What counts for the order of candidates.
#[derive(Default, Debug)]
pub(super) struct Ranking {
    /// What reads have seen in all executions, by their place in the code.
    values: HashSet<(SiteId, u64)>,
    tries: HashMap<Focus, u32>,
    /// How many executions showed nothing new.
    barren: u32,
    /// How many reads were tried in turn with patterns.
    read_values: u32,
}

impl Ranking {
    /// Takes note of what the reads of an execution saw.
    pub(super) fn see(&mut self, accesses: &Accesses) {
        let reads = accesses.iter().filter(|access| !access.writes());
        self.values.extend(reads.filter_map(|read| Some((read.site, read.value()?))));
    }

    /// Takes note that no thread saw anything new in an execution.
    pub(super) fn see_nothing_new(&mut self) {
        self.barren += 1;
    }

    /// Takes note that a read without a pattern is tried.
    pub(super) fn try_read_value(&mut self, rank: &Rank) {
        self.read_values += u32::from(rank.stage == Stage::UncoveredOrReadValue);
    }

    /// Takes note that a candidate is tried.
    pub(super) fn try_candidate(&mut self, candidate: &[&Access], forest: &Forest) {
        *self.tries.entry(self.novelty(candidate, forest).1).or_default() += 1;
    }

    /// The rank of a candidate of an execution.
    pub(super) fn rank(
        &self,
        is_covered: bool,
        candidate: &[&Access],
        forest: &Forest,
        (trace, place): (usize, usize),
    ) -> Rank {
        let (novelty, focus) = self.novelty(candidate, forest);
        let stage = match (novelty, is_covered) {
            (Novelty::Value, false) => Stage::UncoveredValue,
            (Novelty::Value, true) => Stage::Value,
            (Novelty::OtherValue, _) | (Novelty::Nothing, false) => Stage::UncoveredOrReadValue,
            (Novelty::Known, false) => Stage::Known,
            (Novelty::Known | Novelty::Nothing, true) => Stage::Other,
        };
        let tries = self.tries.get(&focus).copied().unwrap_or(0);
        let age = trace as i64;
        let age = if is_covered { age } else { -age };
        // One execution that shows nothing new says little.
        let turn = if stage == Stage::UncoveredOrReadValue { 2 * self.barren.saturating_sub(1) } else { 0 };
        Rank { stage, turn, tries, length: Reverse(candidate.len()), age, place }
    }

    /// The rank of a read that shall see this.
    pub(super) fn rank_of_read_value(
        &self,
        read: &Access,
        content: (MemoryRange, u64),
        forest: &Forest,
        (trace, place): (usize, usize),
    ) -> Rank {
        let stage = match self.has_seen(read.site, content.1) {
            false => Stage::Value,
            true if is_known_state(read, content, forest) => Stage::Known,
            true => Stage::UncoveredOrReadValue,
        };
        let rank = Rank { stage, turn: 0, tries: 0, length: Reverse(1), age: trace as i64, place };
        self.rank_of_read_value_now(&rank)
    }

    /// The rank that a read without a pattern has by now.
    pub(super) fn rank_of_read_value_now(&self, rank: &Rank) -> Rank {
        let turn = if rank.stage == Stage::UncoveredOrReadValue { 2 * self.read_values + 1 } else { 0 };
        Rank { turn, ..*rank }
    }

    /// The newest that a read of the candidate sees, and what the candidate is about.
    fn novelty(&self, candidate: &[&Access], forest: &Forest) -> (Novelty, Focus) {
        let seen =
            candidate.iter().enumerate().filter(|(_, read)| !read.writes()).filter_map(|(at, read)| {
                let source = candidate[..at].iter().rev().find(|access| access.object == read.object);
                let source =
                    source.filter(|source| source.writes() && !source.leaves_what_was_seen_by(read))?;
                let is_known = |content| is_known_state(read, content, forest);
                let novelty = match source.value() {
                    _ if source.content().is_some_and(is_known) => Novelty::Known,
                    Some(value) if self.has_seen(read.site, value) => Novelty::OtherValue,
                    _ => Novelty::Value,
                };
                Some((novelty, Focus::Read(read.site)))
            });
        seen.max_by_key(|(novelty, _)| *novelty).unwrap_or_else(|| {
            let sites = candidate.iter().map(|access| access.site);
            let (first, last) = sites
                .fold((SiteId(u64::MAX), SiteId(0)), |(first, last), site| (first.min(site), last.max(site)));
            (Novelty::Nothing, Focus::Among(first, last))
        })
    }

    fn has_seen(&self, site: SiteId, value: u64) -> bool {
        self.values.contains(&(site, value))
    }
}

/// Whether the thread of a read was already seen to see this, with the same behind it.
fn is_known_state(read: &Access, (extent, value): (MemoryRange, u64), forest: &Forest) -> bool {
    let mut ways = forest.siblings(read.step).iter().flat_map(|way| &forest.step(*way).actions);
    ways.any(|action| action.read() == Some((extent, Some(value))))
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Novelty {
    Nothing,
    /// A read sees something else than it saw, but it is known what comes of that.
    Known,
    /// A read sees something else than it saw, and what comes of that is not known.
    OtherValue,
    /// It sees something that nobody has seen at that place in the code.
    Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is tried one after the other, where a pattern and a read without one are always left.
    fn tried(patterns_show_something_new: bool) -> String {
        let mut ranking = Ranking::default();
        let read_value = Rank {
            stage: Stage::UncoveredOrReadValue,
            turn: 0,
            tries: 0,
            length: Reverse(1),
            age: 0,
            place: 0,
        };
        let mut tried = String::new();
        for _ in 0..8 {
            let pattern = ranking.rank(false, &[], &Forest::new(), (0, 1));
            let read_value = ranking.rank_of_read_value_now(&read_value);
            if pattern < read_value {
                tried.push('p');
                if !patterns_show_something_new {
                    ranking.see_nothing_new();
                }
            } else {
                tried.push('s');
                ranking.try_read_value(&read_value);
            }
        }
        tried
    }

    #[test]
    fn reads_without_a_pattern_have_their_turn_when_patterns_show_nothing_new() {
        assert_eq!(tried(true), "pppppppp");
        assert_eq!(tried(false), "ppspspsp");
    }
}
