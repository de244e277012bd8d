//! How many orders there are in which two threads can make their recorded steps, as far as it matters who goes first.

use std::collections::HashMap;

use threadbare_trace::{Event, EventKind, ThreadId};

use super::super::operation::{Operation, OperationKind};

/// The orders of every two threads, all added up: the test cases of TPAIR for one execution, the recorded order included once for
/// each pair. Two orders are the same if they differ only in steps that do not depend on each other: that neither access the same
/// memory, one of them writing, nor work on the same lock.
///
/// Each class of orders has one in which no step of the second thread is directly followed by a step of the first that does not
/// depend on it, so these are counted, by how far both threads have come and who made the last step.
pub fn pair_orders(events: &[Event]) -> u128 {
    let mut threads: HashMap<ThreadId, Vec<Operation>> = HashMap::new();
    for event in events {
        let operation = Operation::of(event).filter(|it| it.act.accesses() || takes(it).is_some());
        threads.entry(event.thread).or_default().extend(operation);
    }
    let mut ids: Vec<ThreadId> = threads.keys().copied().collect();
    ids.sort_unstable();
    let mut sum = 0u128;
    for (place, one) in ids.iter().enumerate() {
        for other in &ids[place + 1..] {
            if !is_created(events, *one, *other) {
                sum = sum.saturating_add(orders(&threads[one], &threads[other]));
            }
        }
    }
    sum
}

/// Whether one of the two creates or joins the other: their order is hardly free then.
fn is_created(events: &[Event], one: ThreadId, other: ThreadId) -> bool {
    events.iter().any(|event| {
        let kind = event.kind();
        let creates_or_joins = kind == Some(EventKind::Create) || kind == Some(EventKind::Join);
        let about = ThreadId(event.value as u16);
        creates_or_joins && [(one, other), (other, one)].contains(&(event.thread, about))
    })
}

/// For a step on a lock: whether it takes it.
fn takes(step: &Operation) -> Option<bool> {
    match step.act {
        OperationKind::Lock | OperationKind::ReadLock => Some(true),
        OperationKind::Unlock => Some(false),
        OperationKind::Read | OperationKind::Write | OperationKind::AtomicRead => None,
        OperationKind::AtomicWrite | OperationKind::Other(_) => None,
    }
}

fn depend(one: &Operation, other: &Operation) -> bool {
    let locks = takes(one).is_some() && takes(other).is_some();
    locks && one.operand == other.operand || one.overlaps(other) && (one.act.writes() || other.act.writes())
}

fn orders(first: &[Operation], second: &[Operation]) -> u128 {
    let held = |steps: &[Operation]| {
        let mut held: Vec<u64> = Vec::new();
        let mut at = vec![held.clone()];
        for step in steps {
            match takes(step) {
                Some(true) => held.push(step.operand),
                Some(false) => held.retain(|lock| *lock != step.operand),
                None => {}
            }
            at.push(held.clone());
        }
        at
    };
    let (by_first, by_second) = (held(first), held(second));
    let is_possible =
        |one: usize, other: usize| !by_first[one].iter().any(|lock| by_second[other].contains(lock));
    // By how far the second thread has come: the orders that end with a step of the first, and of the second.
    let mut row = vec![(0u128, 0u128); second.len() + 1];
    for one in 0..=first.len() {
        let mut next = vec![(0u128, 0u128); second.len() + 1];
        for other in 0..=second.len() {
            if !is_possible(one, other) {
                continue;
            }
            if (one, other) == (0, 0) {
                next[0] = (1, 0);
                continue;
            }
            if one > 0 {
                let (after_first, after_second) = row[other];
                let follows = other > 0 && depend(&first[one - 1], &second[other - 1]);
                next[other].0 = after_first.saturating_add(if follows { after_second } else { 0 });
            }
            if other > 0 {
                let (after_first, after_second) = next[other - 1];
                next[other].1 = after_first.saturating_add(after_second);
            }
        }
        row = next;
    }
    let (after_first, after_second) = row[second.len()];
    after_first.saturating_add(after_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, kind: EventKind, addr: u64) -> Event {
        Event { thread: ThreadId(thread), kind: kind as u8, addr, size: 4, ..Event::default() }
    }

    /// Two writes to the same place come in two orders, and a third step elsewhere does not matter.
    #[test]
    fn what_does_not_depend_is_not_distinguished() {
        let write = |thread, addr| event(thread, EventKind::Write, addr);
        assert_eq!(pair_orders(&[write(1, 8), write(2, 8)]), 2);
        assert_eq!(pair_orders(&[write(1, 8), write(1, 16), write(2, 8), write(2, 24)]), 2);
        assert_eq!(pair_orders(&[write(1, 16), write(2, 24)]), 1);
        // Two each: six ways to put four in order.
        assert_eq!(pair_orders(&[write(1, 8), write(1, 8), write(2, 8), write(2, 8)]), 6);
    }

    #[test]
    fn critical_sections_come_one_after_the_other() {
        let section = |thread| {
            [EventKind::Lock, EventKind::Write, EventKind::Write, EventKind::Unlock]
                .map(|kind| event(thread, kind, if kind == EventKind::Write { 8 } else { 64 }))
        };
        let events: Vec<Event> = [section(1), section(1), section(2)].concat();
        assert_eq!(pair_orders(&events), 3);
    }
}
