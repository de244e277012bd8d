//! Execution paths that no execution has shown as a whole (Algorithm 12): each thread on a path that it was seen to take, put
//! together with paths that the others took in other executions.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_trace::{Event, ThreadId};

use super::manners::{AccessManner, Manners, Paths, manner_occurrences};
use super::operation::Operation;
use super::pairs::{concurrent_pairs, is_no_race};

/// What was found out about a combination without executing it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Label {
    /// Whatever the order, it has no race: no test case has to lead there for that.
    NoRace,
    /// It has one if it can happen at all, which a test case has to show.
    PotentialRace,
}

/// A path for each thread, by its number in the thread's history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Combination {
    /// The paths.
    pub paths: BTreeMap<ThreadId, usize>,
    /// What was found out.
    pub label: Label,
}

#[derive(Clone, Debug)]
struct KnownPath {
    operations: Vec<Operation>,
    manners: BTreeSet<AccessManner>,
    /// With which threads each access-manner was seen to be concurrent. With all others, it is ordered by the program's structure.
    concurrent_with: BTreeSet<(AccessManner, ThreadId)>,
}

/// The history of paths.
#[derive(Clone, Debug, Default)]
pub struct Combinations {
    threads: BTreeMap<ThreadId, Vec<KnownPath>>,
    executed: BTreeSet<BTreeMap<ThreadId, usize>>,
}

impl Combinations {
    /// So many combinations are made at most for one execution.
    pub const MOST: usize = 4096;

    /// Adds an execution; gives the paths that its threads took, by their numbers, and the combinations of its new ones with those
    /// known before that no execution has shown.
    pub fn add(&mut self, events: &[Event]) -> (BTreeMap<ThreadId, usize>, Vec<Combination>) {
        let paths = Paths::of(events);
        let occurrences = manner_occurrences(events);
        let manners = Manners::of_occurrences(&occurrences);
        let mut concurrent_with: BTreeMap<ThreadId, BTreeSet<(AccessManner, ThreadId)>> = BTreeMap::new();
        for pair in concurrent_pairs(events, &occurrences) {
            let ((one, its), (other, others)) = (pair.one, pair.other);
            concurrent_with.entry(one).or_default().insert((its, other));
            concurrent_with.entry(other).or_default().insert((others, one));
        }
        let mut new = BTreeSet::new();
        let mut shown = BTreeMap::new();
        for (thread, manners) in manners.threads() {
            let history = self.threads.entry(thread).or_default();
            let operations = paths.of_thread(thread);
            let number = history.iter().position(|it| it.operations == operations).unwrap_or_else(|| {
                new.insert(thread);
                let operations = operations.to_vec();
                history.push(KnownPath {
                    operations,
                    manners: manners.clone(),
                    concurrent_with: BTreeSet::new(),
                });
                history.len() - 1
            });
            history[number].concurrent_with.extend(concurrent_with.remove(&thread).unwrap_or_default());
            shown.insert(thread, number);
        }
        self.executed.insert(shown.clone());
        let combinations = if new.is_empty() { Vec::new() } else { self.combine(&shown, &new) };
        (shown, combinations)
    }

    /// What is known of a combination without executing it; nothing if a path in it is not known.
    pub fn label(&self, paths: &BTreeMap<ThreadId, usize>) -> Option<Label> {
        let is_known = |(thread, number): (&ThreadId, &usize)| {
            self.threads.get(thread).is_some_and(|history| *number < history.len())
        };
        let label = || if self.has_no_race(paths) { Label::NoRace } else { Label::PotentialRace };
        paths.iter().all(is_known).then(label)
    }

    fn combine(&self, shown: &BTreeMap<ThreadId, usize>, new: &BTreeSet<ThreadId>) -> Vec<Combination> {
        let mut all: Vec<BTreeMap<ThreadId, usize>> = vec![BTreeMap::new()];
        for (thread, history) in self.threads.iter().filter(|(thread, _)| shown.contains_key(thread)) {
            let with = |known: &BTreeMap<ThreadId, usize>, number: usize| {
                let mut known = known.clone();
                known.insert(*thread, number);
                known
            };
            let longer = all.iter().flat_map(|known| (0..history.len()).map(move |it| with(known, it)));
            all = longer.take(Self::MOST).collect();
        }
        let has_new = |paths: &BTreeMap<ThreadId, usize>| new.iter().any(|it| paths.get(it) == shown.get(it));
        let is_unseen =
            |paths: &&BTreeMap<ThreadId, usize>| !self.executed.contains(*paths) && has_new(paths);
        let labelled = |paths: &BTreeMap<ThreadId, usize>| Combination {
            paths: paths.clone(),
            label: if self.has_no_race(paths) { Label::NoRace } else { Label::PotentialRace },
        };
        all.iter().filter(is_unseen).map(labelled).collect()
    }

    fn has_no_race(&self, paths: &BTreeMap<ThreadId, usize>) -> bool {
        let chosen: Vec<(ThreadId, &KnownPath)> =
            paths.iter().map(|(thread, number)| (*thread, &self.threads[thread][*number])).collect();
        chosen.iter().enumerate().all(|(place, (one, its))| {
            chosen[place + 1..].iter().all(|(other, others)| {
                let concurrent = |path: &KnownPath, with: ThreadId| -> Vec<AccessManner> {
                    let concurrent_with =
                        |manner: &&AccessManner| path.concurrent_with.contains(&((*manner).clone(), with));
                    path.manners.iter().filter(concurrent_with).cloned().collect()
                };
                let theirs = concurrent(others, *one);
                concurrent(its, *other).iter().all(|a| theirs.iter().all(|b| is_no_race(a, b)))
            })
        })
    }
}
