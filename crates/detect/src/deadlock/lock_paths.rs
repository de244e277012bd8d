//! Whether threads can come to where they wait for each other.
//!
//! Locks that are taken hand over hand may rule it out although no lock is held in common at the end:
//! one who takes b under a, and then holds b alone, cannot deadlock with one who takes a under b.

use std::collections::HashSet;

use threadbare_happens_before::Mode;

use super::cycles::LockId;

/// How many situations are looked at before it is taken to be possible.
const PATIENCE: usize = 20_000;
/// A longer way to a place where a thread waits is not remembered.
pub const LONGEST: usize = 32;

/// What a thread did with a lock: taken in a mode, or released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    pub lock: LockId,
    pub taken: Option<Mode>,
}

/// Whether some interleaving of these ways, which all begin with no locks held, comes to all their ends.
pub fn is_possible(ways: &[&[Move]]) -> bool {
    // Ways that only take locks can be gone one after the other: at their ends nothing is held in common.
    if ways.iter().all(|way| way.iter().all(|step| step.taken.is_some())) {
        return true;
    }
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    let mut left = vec![vec![0; ways.len()]];
    while let Some(places) = left.pop() {
        if places.iter().zip(ways).all(|(place, way)| *place == way.len()) || seen.len() > PATIENCE {
            return true;
        }
        for thread in 0..ways.len() {
            if can_move(ways, &places, thread) {
                let mut next = places.clone();
                next[thread] += 1;
                if seen.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
    }
    false
}

fn can_move(ways: &[&[Move]], places: &[usize], thread: usize) -> bool {
    let Some(step) = ways[thread].get(places[thread]) else { return false };
    let Some(mode) = step.taken else { return true };
    (0..ways.len()).filter(|other| *other != thread).all(|other| {
        let last = ways[other][..places[other]].iter().rev().find(|made| made.lock == step.lock);
        last.and_then(|made| made.taken).is_none_or(|held| !held.excludes(mode))
    })
}
