//! Cycles of threads that each hold what another one wants.

use threadbare_happens_before::{Mode, Stamp};
use threadbare_trace::ThreadId;

use super::lock_paths::{Move, is_possible};
use crate::finding::Access;

/// The longest cycle that is looked for.
const LONGEST: usize = 10;
/// How many steps a search may take. Cycles are short; what takes longer is a maze of locks.
const PATIENCE: u64 = 1_000_000;

/// A lock that lives at an address until the memory is used for something else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LockId(pub u64);

/// A lock that is held, and where it was acquired.
#[derive(Clone, Debug)]
pub struct Hold {
    pub lock: LockId,
    pub mode: Mode,
    pub access: Access,
}

/// When something was done, by enforced order and as values were handed over.
#[derive(Clone, Debug)]
pub struct Stamps {
    pub enforced: Stamp,
    pub handed_over: Stamp,
}

/// A thread that acquired a lock, and would have waited for it, while it held others.
#[derive(Clone, Debug)]
pub struct Dependency {
    pub thread: ThreadId,
    pub wanted: Hold,
    pub held: Vec<Hold>,
    pub stamps: Stamps,
    /// What it did with locks since it last held none, or nothing if that is long.
    pub way: Vec<Move>,
}

impl Dependency {
    /// The acquisition of the lock for which the other one has to wait, if that is so.
    fn blocks(&self, other: &Dependency) -> Option<&Hold> {
        self.held.iter().find(|held| held.lock == other.wanted.lock && held.mode.excludes(other.wanted.mode))
    }

    /// Whether both can be at this point at the same time: by different threads, in no enforced order,
    /// without a lock (a gate) that both hold.
    fn may_coincide_with(&self, other: &Dependency) -> bool {
        let gate = |a: &Hold| other.held.iter().any(|b| a.lock == b.lock && a.mode.excludes(b.mode));
        self.thread != other.thread
            && !self.held.iter().any(gate)
            && self.stamps.enforced.is_concurrent_with(&other.stamps.enforced)
    }
}

/// Finds cycles among dependencies.
pub struct CycleSearch<'a> {
    dependencies: &'a [Dependency],
    path: Vec<usize>,
    steps: u64,
}

impl<'a> CycleSearch<'a> {
    /// A search in these.
    pub fn new(dependencies: &'a [Dependency]) -> CycleSearch<'a> {
        CycleSearch { dependencies, path: Vec::new(), steps: 0 }
    }

    /// Every cycle, once: it begins with its lowest thread.
    pub fn all(mut self, mut found: impl FnMut(&[&Dependency])) {
        for first in 0..self.dependencies.len() {
            let lowest = self.dependencies[first].thread;
            self.begin(first, &|other| other.thread > lowest, &mut found);
        }
    }

    /// Every cycle in which a thread waits for this lock.
    pub fn through(mut self, lock: LockId, mut found: impl FnMut(&[&Dependency])) {
        for first in 0..self.dependencies.len() {
            if self.dependencies[first].wanted.lock == lock {
                self.begin(first, &|_| true, &mut found);
            }
        }
    }

    fn begin(
        &mut self,
        first: usize,
        admits: &dyn Fn(&Dependency) -> bool,
        found: &mut dyn FnMut(&[&Dependency]),
    ) {
        self.path.push(first);
        self.extend(admits, found);
        self.path.pop();
    }

    fn extend(&mut self, admits: &dyn Fn(&Dependency) -> bool, found: &mut dyn FnMut(&[&Dependency])) {
        let all = self.dependencies;
        let (first, last) = (&all[self.path[0]], &all[self.path[self.path.len() - 1]]);
        for (next, dependency) in all.iter().enumerate() {
            self.steps += 1;
            if self.steps > PATIENCE {
                return;
            }
            if dependency.blocks(last).is_none()
                || !admits(dependency)
                || !self.path.iter().all(|index| all[*index].may_coincide_with(dependency))
            {
                continue;
            }
            self.path.push(next);
            if first.blocks(dependency).is_some() {
                let cycle: Vec<&Dependency> = self.path.iter().map(|index| &all[*index]).collect();
                let ways: Vec<&[Move]> = cycle.iter().map(|dependency| &dependency.way[..]).collect();
                if is_possible(&ways) {
                    found(&cycle);
                }
            } else if self.path.len() < LONGEST {
                self.extend(admits, found);
            }
            self.path.pop();
        }
    }
}

/// For each thread of a cycle, beginning with the lowest: where it took the lock that another one
/// wants, and where it wants one itself.
pub fn accesses(cycle: &[&Dependency]) -> Vec<Access> {
    let lowest = (0..cycle.len()).min_by_key(|index| cycle[*index].thread).unwrap_or(0);
    let mut accesses = Vec::new();
    for index in 0..cycle.len() {
        let this = cycle[(lowest + index) % cycle.len()];
        let before = cycle[(lowest + index + cycle.len() - 1) % cycle.len()];
        accesses.extend(this.blocks(before).map(|held| held.access));
        accesses.push(this.wanted.access);
    }
    accesses
}
