//! Whether threads may wait for each other in a cycle.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadbare_order::{Action, Forest, StepId};
use threadbare_trace::ThreadId;

/// What a thread waits for: a lock, or the end of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Thing {
    Lock(u64),
    End(ThreadId),
}

/// Whether some order of these steps may end in a deadlock. It takes a cycle of threads, each of which holds what the next one
/// waits for; or something that is more than held and waited for: conditions, semaphores, barriers, locks that are held when their owner ends.
/// Each step comes after those that lead to it.
pub(super) fn are_possible(forest: &Forest, steps: &[StepId]) -> bool {
    use Action::*;
    let mut waits: BTreeMap<Thing, BTreeSet<Thing>> = BTreeMap::new();
    let mut held: HashMap<StepId, Vec<u64>> = HashMap::new();
    for &id in steps {
        let step = forest.step(id);
        let mut locks = step.parent.and_then(|parent| held.get(&parent)).cloned().unwrap_or_default();
        for action in &step.actions {
            let wanted = match *action {
                Acquire { lock, .. } => Thing::Lock(lock),
                Join(thread) => Thing::End(thread),
                Release(lock) => {
                    if let Some(place) = locks.iter().position(|held| *held == lock) {
                        locks.remove(place);
                    }
                    continue;
                }
                Exit if !locks.is_empty() => return true,
                Wait { .. } | Wake { .. } | Timeout { .. } | Arrive(_) | Leave(..) | Take(_) => return true,
                Keep(..) | Watershed(..) => return true,
                // These wait for nothing.
                Read(..) | Write(..) | Update(..) | Touch(..) | Free(_) | Renew { .. } => continue,
                Refused(_) | Empty(_) | Unended(_) | Signal { .. } | Post(_) => continue,
                Create(_) | Start(_) | Exit | Idle(_) => continue,
            };
            let has = locks.iter().map(|lock| Thing::Lock(*lock)).chain([Thing::End(step.thread)]);
            for thing in has.filter(|thing| *thing != wanted) {
                waits.entry(thing).or_default().insert(wanted);
            }
            if let Thing::Lock(lock) = wanted {
                locks.push(lock);
            }
        }
        held.insert(id, locks);
    }
    has_cycle(&waits)
}

/// Whether these waits have a cycle: removes what waits for nothing until nothing more can be removed.
fn has_cycle(waits: &BTreeMap<Thing, BTreeSet<Thing>>) -> bool {
    let mut left = waits.clone();
    loop {
        let waiting: BTreeSet<Thing> = left.keys().copied().collect();
        for wanted in left.values_mut() {
            wanted.retain(|thing| waiting.contains(thing));
        }
        let before = left.len();
        left.retain(|_, wanted| !wanted.is_empty());
        if left.len() == before {
            return !left.is_empty();
        }
    }
}

#[cfg(test)]
mod tests {
    use threadbare_trace::{Event, EventKind};

    use super::*;

    /// Whether a trace of (thread, kind, object) may deadlock in some order.
    fn possible(steps: &[(u16, EventKind, u64)]) -> bool {
        let mut counts: HashMap<u16, u32> = HashMap::new();
        let events: Vec<Event> = (steps.iter())
            .map(|(thread, kind, object)| {
                let op = counts.entry(*thread).or_default();
                *op += 1;
                let thread = ThreadId(*thread);
                Event {
                    thread,
                    op: *op,
                    kind: *kind as u8,
                    addr: *object,
                    value: *object,
                    ..Event::default()
                }
            })
            .collect();
        let mut forest = Forest::new();
        let path = forest.add(&events);
        are_possible(&forest, &path.steps)
    }

    #[test]
    fn two_locks_in_both_orders_make_a_cycle_and_in_one_order_none() {
        use EventKind::{Lock, Unlock};
        let nested =
            |thread, a, b| [(thread, Lock, a), (thread, Lock, b), (thread, Unlock, b), (thread, Unlock, a)];
        assert!(possible(&[nested(1, 8, 16), nested(2, 16, 8)].concat()));
        assert!(!possible(&[nested(1, 8, 16), nested(2, 8, 16), nested(3, 16, 24)].concat()));
        assert!(possible(&[nested(1, 8, 16), nested(2, 16, 24), nested(3, 24, 8)].concat()));
    }

    #[test]
    fn a_lock_held_while_its_next_owner_is_joined_makes_a_cycle() {
        use EventKind::{Join, Lock, Unlock};
        let worker = [(1, Lock, 8), (1, Unlock, 8)];
        assert!(possible(&[&worker[..], &[(0, Lock, 8), (0, Join, 1), (0, Unlock, 8)]].concat()));
        assert!(!possible(&[&worker[..], &[(0, Lock, 8), (0, Unlock, 8), (0, Join, 1)]].concat()));
    }

    #[test]
    fn a_thread_that_ends_with_a_lock_may_block_others() {
        use EventKind::{Exit, Lock, SemWait};
        assert!(possible(&[(1, Lock, 8), (1, Exit, 0)]));
        assert!(possible(&[(1, SemWait, 8)]));
        assert!(!possible(&[(1, Exit, 0)]));
    }
}
