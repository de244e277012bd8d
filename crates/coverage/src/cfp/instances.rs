//! From the calls of one execution to its concurrent function pairs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use threadbare_trace::ThreadId;

use super::order_clocks::OrderClocks;
use super::{FunctionAddress, FunctionPair};

/// A lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallLock {
    /// The lock.
    pub lock: u64,
    /// Whether others may hold it in the same way: a read lock.
    pub shared: bool,
}

/// One call, or many that are alike: same function, thread, locks and times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallInstance {
    /// The function.
    pub function: FunctionAddress,
    /// Who called it.
    pub thread: ThreadId,
    /// The locks held at its entrance, as a place in [`ExecutionCalls::lock_sets`].
    pub at_entry: u32,
    /// The locks held from its entrance to its exit without a break.
    pub throughout: u32,
    /// The thread's time at the entrance, as [`threadbare_trace::EventKind::orders_threads`] counts it.
    pub entered: u32,
    /// And at the exit.
    pub left: u32,
}

/// The calls of one execution.
#[derive(Clone, Default, Debug)]
pub struct ExecutionCalls {
    /// The calls; alike ones may be given once.
    pub instances: Vec<CallInstance>,
    /// The sets of locks that they name.
    pub lock_sets: Vec<Vec<CallLock>>,
}

impl ExecutionCalls {
    /// Whether somebody who holds the one set of locks keeps out somebody who holds the other.
    fn exclude(&self, one: u32, other: u32) -> bool {
        let of = |set: u32| self.lock_sets.get(set as usize).map_or(&[][..], Vec::as_slice);
        let excludes = |a: &CallLock| of(other).iter().any(|b| a.lock == b.lock && !(a.shared && b.shared));
        of(one).iter().any(excludes)
    }
}

/// What is needed of a function: from when to when it ran, and when it was entered.
#[derive(Default)]
struct Runs {
    /// Thread, locks throughout, times of entrance and exit.
    spans: BTreeSet<(ThreadId, u32, u32, u32)>,
    /// The times of entrances, by thread and locks.
    entrances: BTreeMap<(ThreadId, u32), BTreeSet<u32>>,
}

/// The pairs of functions that can run at the same time.
pub fn concurrent_pairs(calls: &ExecutionCalls, clocks: &OrderClocks) -> BTreeSet<FunctionPair> {
    let mut functions: BTreeMap<FunctionAddress, Runs> = BTreeMap::new();
    for it in &calls.instances {
        let runs = functions.entry(it.function).or_default();
        runs.spans.insert((it.thread, it.throughout, it.entered, it.left));
        runs.entrances.entry((it.thread, it.at_entry)).or_default().insert(it.entered);
    }
    let exclusions = exclusions(calls);
    let can_start_within = |starts: &Runs, goes_on: &Runs| {
        goes_on.spans.iter().any(|(other, throughout, entered, left)| {
            starts.entrances.iter().any(|((thread, at_entry), times)| {
                thread != other
                    && !exclusions.contains(&(*at_entry, *throughout))
                    && clocks
                        .between(*thread, *other, *entered, *left)
                        .is_some_and(|(first, last)| times.range(first..=last).next().is_some())
            })
        })
    };
    let mut pairs = BTreeSet::new();
    for (one, its) in &functions {
        for (other, theirs) in functions.range(one..) {
            if can_start_within(its, theirs) || can_start_within(theirs, its) {
                pairs.insert(FunctionPair::of(*one, *other));
            }
        }
    }
    pairs
}

/// The pairs of lock sets (at the one's entrance, throughout the other) that keep each other out.
fn exclusions(calls: &ExecutionCalls) -> HashSet<(u32, u32)> {
    let at_entry: BTreeSet<u32> = calls.instances.iter().map(|it| it.at_entry).collect();
    let throughout: BTreeSet<u32> = calls.instances.iter().map(|it| it.throughout).collect();
    let each = |one: &u32| throughout.iter().map(|other| (*one, *other)).collect::<Vec<_>>();
    at_entry.iter().flat_map(each).filter(|(one, other)| calls.exclude(*one, *other)).collect()
}
