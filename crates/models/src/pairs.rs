//! Which access-manners can be concurrent (§3.11), and whether they can be so without a race (Algorithm 1).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use threadbare_happens_before::{Mode, Rules, Stamp, ThreadClocks};
use threadbare_trace::{Event, ThreadId};

use super::manners::{AccessManner, MannerOccurrence};

/// Two access-manners of different threads that can be interleaved; the lower thread comes first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MannerPair {
    /// One of them.
    pub one: (ThreadId, AccessManner),
    /// The other one.
    pub other: (ThreadId, AccessManner),
}

/// The moments of some events, by what creation, join, barriers and messages between waiting threads order. Who was first to
/// take a lock says nothing.
pub(super) fn moments(events: &[Event], wanted: &BTreeSet<usize>) -> BTreeMap<usize, Stamp> {
    let mut order = ThreadClocks::new(Rules::Awaited);
    let mut stamps = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        let Some(kind) = event.kind() else { continue };
        order.before(event, kind);
        if wanted.contains(&index) {
            stamps.insert(index, order.stamp(event.thread));
        }
        order.after(event, kind);
    }
    stamps
}

/// Occurrences of a manner that nothing distinguishes.
struct Alike<'a> {
    thread: ThreadId,
    manner: &'a AccessManner,
    first: Stamp,
    last: Stamp,
}

fn alike<'a>(events: &[Event], occurrences: &'a [MannerOccurrence]) -> Vec<Alike<'a>> {
    let ends = occurrences.iter().flat_map(|it| [it.first, it.last]).collect();
    let stamps = moments(events, &ends);
    let mut seen = BTreeSet::new();
    let mut alike = Vec::new();
    for it in occurrences {
        let (Some(first), Some(last)) = (stamps.get(&it.first), stamps.get(&it.last)) else { continue };
        // A clock that is shared is the same; one that is not may still be equal, which costs a comparison later.
        let clock = |stamp: &Stamp| Arc::as_ptr(&stamp.clock) as usize;
        if seen.insert((it.thread, &it.manner, clock(first), clock(last))) {
            let (first, last) = (first.clone(), last.clone());
            alike.push(Alike { thread: it.thread, manner: &it.manner, first, last });
        }
    }
    alike
}

/// The concurrent-pairs of access-manners of an execution, by content.
pub fn concurrent_pairs(events: &[Event], occurrences: &[MannerOccurrence]) -> BTreeSet<MannerPair> {
    let alike = alike(events, occurrences);
    let mut pairs = BTreeSet::new();
    for (place, a) in alike.iter().enumerate() {
        for b in &alike[place + 1..] {
            if a.thread == b.thread || a.last.precedes(&b.first) || b.last.precedes(&a.first) {
                continue;
            }
            let (low, high) = if a.thread < b.thread { (a, b) } else { (b, a) };
            let owned = |it: &Alike<'_>| (it.thread, it.manner.clone());
            pairs.insert(MannerPair { one: owned(low), other: owned(high) });
        }
    }
    pairs
}

/// Algorithm 1: whether two access-manners can be interleaved without a race.
///
/// They can if they touch no memory in common, or if every variable that both touch, and at least one of them writes, has a lock
/// that is active at *all* of these accesses. (The published step 2.2 reports "no race" as soon as *one* shared variable has a consistent
/// lock; by the definition in its text, every one must have.) A lock that is held with other readers protects
/// reads only, and accesses that are all atomic need no lock.
pub fn is_no_race(one: &AccessManner, other: &AccessManner) -> bool {
    let (ours, theirs) = (one.accesses(), other.accesses());
    ours.iter().all(|(access, _)| {
        let shares = |(it, _): &&(super::Operation, BTreeMap<u64, Mode>)| it.overlaps(access);
        if !theirs.iter().any(|it| shares(&it)) {
            return true;
        }
        let all: Vec<_> = ours.iter().chain(&theirs).filter(shares).collect();
        let is_written = all.iter().any(|(it, _)| it.act.writes());
        let is_atomic = all.iter().all(|(it, _)| it.act.is_atomic());
        !is_written || is_atomic || has_consistent_lock(&all)
    })
}

fn has_consistent_lock(accesses: &[&(super::Operation, BTreeMap<u64, Mode>)]) -> bool {
    let protects = |lock: &u64| {
        accesses.iter().all(|(access, locks)| match locks.get(lock) {
            Some(Mode::Exclusive) => true,
            Some(Mode::Shared) => !access.act.writes(),
            None => false,
        })
    };
    accesses.first().is_some_and(|(_, locks)| locks.keys().any(protects))
}
