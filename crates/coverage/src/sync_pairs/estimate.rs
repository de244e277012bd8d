//! Which synchronization pairs a program can show, estimated from one run (§2.3).

use std::collections::{BTreeMap, BTreeSet};

use threadbare_happens_before::{LockSetId, Mode};

use super::Precision;
use super::model::{Group, Model};
use crate::{ObservedExecution, PlacePair};

/// The pairs that the acceptance conditions AC1 to AC4 let pass, and the finer ones if so wished.
pub fn estimate(seen: &ObservedExecution<'_>, precision: Precision) -> BTreeSet<PlacePair> {
    let model = Model::of(seen, precision);
    let mut accepted = model.successive.clone();
    let mut of_lock: BTreeMap<u64, BTreeMap<u64, Vec<&Group>>> = BTreeMap::new();
    for group in &model.groups {
        of_lock.entry(group.lock).or_default().entry(group.place).or_default().push(group);
    }
    for places in of_lock.values() {
        for (first, earlier) in places {
            for (second, later) in places {
                let pair = PlacePair { first: *first, second: *second };
                let is_possible = |p: &Group| later.iter().any(|q| is_accepted(&model, precision, p, q));
                if !accepted.contains(&pair) && earlier.iter().any(|p| is_possible(p)) {
                    accepted.insert(pair);
                }
            }
        }
    }
    accepted
}

/// Whether two threads may execute `q` right after `p`, both on the same lock.
fn is_accepted(model: &Model, precision: Precision, p: &Group, q: &Group) -> bool {
    if p.thread == q.thread {
        return false; // What AC1 accepts is known already.
    }
    // Whoever takes again a lock that it holds follows an action of its own. The paper's conditions do not say so: they
    // look at the locks held around both actions.
    if q.previous.is_some_and(|previous| keeps_out(model, p.lock, previous.guards, p.mode)) {
        return false;
    }
    let ac2 = p.next.is_none_or(|next| !model.locks.exclude(next.guards, q.held));
    let ac3 = q.previous.is_none_or(|previous| !model.locks.exclude(p.held, previous.guards));
    let ac4 = !model.precedes(q.moment, p.moment);
    ac2 && ac3 && ac4 && (precision == Precision::Paper || is_accepted_refined(model, p, q))
}

/// What holds besides, by an order that joins, barriers and condition variables enforce as well:
///
/// * If `p` keeps the lock up to its next action, nobody takes it between. (It may be that `p` goes another way in another
///   execution, and has no such next action.)
/// * If the next action of `p`'s thread comes before `q`, that one comes between; and likewise if `p` comes before
///   the previous action of `q`'s thread.
fn is_accepted_refined(model: &Model, p: &Group, q: &Group) -> bool {
    p.next.is_none_or(|next| {
        !keeps_out(model, p.lock, next.guards, q.mode) && !model.precedes(next.moment, q.moment)
    }) && q.previous.is_none_or(|previous| !model.precedes(p.moment, previous.moment))
}

/// Whether somebody who holds these locks keeps others from taking one of them in this way.
fn keeps_out(model: &Model, lock: u64, held: LockSetId, mode: Mode) -> bool {
    let locks = model.locks.set(held).locks();
    locks.iter().any(|(own, how)| *own == lock && how.excludes(mode))
}
