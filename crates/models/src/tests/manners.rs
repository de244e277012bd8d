//! Access-manners, race-equivalence and Algorithm 1.

use std::collections::BTreeSet;

use threadbare_trace::EventKind::{self, *};
use threadbare_trace::{Event, ThreadId};

use super::super::*;
use super::{A, B, X, Y, trace};

fn lines(manner: &AccessManner) -> Vec<u64> {
    manner.operations().iter().map(|it| it.site).collect()
}

fn of_thread(events: &[Event], thread: u16) -> BTreeSet<Vec<u64>> {
    let manners = Manners::of(events);
    manners.of_thread(ThreadId(thread)).into_iter().flatten().map(lines).collect()
}

const THREAD_2: [(u16, u64, EventKind, u64); 6] = [
    (2, 20, Lock, A),
    (2, 21, Lock, B),
    (2, 22, Read, Y),
    (2, 23, Write, X),
    (2, 24, Unlock, B),
    (2, 25, Unlock, A),
];

#[test]
fn executions_1_and_2_of_figure_26_are_race_equivalent_and_3_and_4_are_another_group() {
    let first = [(1, 11, Lock, A), (1, 12, Write, X), (1, 13, Unlock, A)];
    let one = trace(&[&first[..], &THREAD_2].concat());
    let two = trace(&[&THREAD_2[..], &first].concat());
    let three = trace(&[&THREAD_2[..4], &[(1, 15, Write, X)], &THREAD_2[4..]].concat());
    let four = trace(&[&THREAD_2[..], &[(1, 15, Write, X)]].concat());
    assert_eq!(Manners::of(&one), Manners::of(&two));
    assert_eq!(Paths::of(&one), Paths::of(&two));
    assert_eq!(Manners::of(&three), Manners::of(&four));
    assert_ne!(Manners::of(&one), Manners::of(&three));
    assert_eq!(of_thread(&one, 1), [vec![11, 12, 13]].into());
    assert_eq!(of_thread(&three, 1), [vec![15]].into());
    assert_eq!(of_thread(&three, 2), [vec![20, 21, 22, 23, 24, 25]].into());
}

#[test]
fn iterations_of_figure_29_are_equivalent_from_the_second_one_on() {
    let rounds = |count: usize| {
        let mut steps = vec![(1, 1, Lock, A)];
        (0..count).for_each(|_| steps.extend([(1, 3, Write, X), (1, 4, Unlock, A)]));
        steps.extend([(2, 20, Lock, A), (2, 21, Read, X), (2, 22, Unlock, A)]);
        trace(&steps)
    };
    assert_ne!(Manners::of(&rounds(1)), Manners::of(&rounds(2)));
    assert_eq!(Manners::of(&rounds(2)), Manners::of(&rounds(3)));
    assert_ne!(Paths::of(&rounds(2)), Paths::of(&rounds(3)));
    assert_eq!(of_thread(&rounds(3), 1), [vec![1, 3, 4], vec![3], vec![4]].into());
}

#[test]
fn a_recursive_lock_is_held_until_its_last_release() {
    let events = trace(&[
        (1, 1, Lock, A),
        (1, 2, Lock, A),
        (1, 3, Unlock, A),
        (1, 4, Write, X),
        (1, 5, Unlock, A),
        (1, 6, Write, X),
    ]);
    assert_eq!(of_thread(&events, 1), [vec![1, 2, 3, 4, 5], vec![6]].into());
    let found = manner_occurrences(&events);
    assert!(found[0].manner.is_usual() && !found[1].manner.is_usual());
    assert_eq!((found[0].first, found[0].last), (0, 4));
}

#[test]
fn a_wait_gives_the_mutex_back_and_its_end_takes_it_again() {
    let mut events = trace(&[
        (1, 1, Lock, A),
        (1, 2, CondWait, B),
        (2, 9, CondSignal, B),
        (1, 2, CondWake, B),
        (1, 3, Read, X),
        (1, 4, Unlock, A),
    ]);
    events[1].value = A;
    events[3].value = A;
    assert_eq!(of_thread(&events, 1), [vec![1, 2], vec![2, 3, 4]].into());
}

#[test]
fn a_manner_that_the_end_cuts_off_is_unusual() {
    let found = manner_occurrences(&trace(&[(1, 1, Lock, A), (1, 2, Write, X), (1, 0, Exit, 0)]));
    assert_eq!(found.len(), 1);
    assert!(!found[0].manner.is_usual());
}

fn manner(steps: &[(EventKind, u64)]) -> AccessManner {
    let steps: Vec<_> = steps.iter().enumerate().map(|(line, it)| (1, line as u64, it.0, it.1)).collect();
    AccessManner::new(trace(&steps).iter().filter_map(Operation::of).collect::<Vec<_>>())
}

#[test]
fn every_shared_variable_needs_a_lock_of_its_own() {
    let both = manner(&[(Lock, A), (Write, X), (Unlock, A), (Lock, B), (Write, Y), (Unlock, B)]);
    assert!(is_no_race(&both, &both));
    let one = manner(&[(Lock, A), (Write, X), (Write, Y), (Unlock, A)]);
    assert!(!is_no_race(&both, &one), "x has a consistent lock but y has none");
    assert!(is_no_race(&both, &manner(&[(Lock, A), (Write, X), (Unlock, A)])));
    assert!(is_no_race(&manner(&[(Write, X)]), &manner(&[(Write, Y)])), "nothing in common");
    assert!(is_no_race(&manner(&[(Read, X)]), &manner(&[(Read, X)])), "nobody writes");
    assert!(!is_no_race(&manner(&[(Read, X)]), &manner(&[(Write, X)])));
    assert!(is_no_race(&manner(&[(AtomicRead, X)]), &manner(&[(AtomicWrite, X)])));
    assert!(!is_no_race(&manner(&[(AtomicRead, X)]), &manner(&[(Write, X)])));
}

#[test]
fn a_read_lock_protects_readers_only() {
    let reader = manner(&[(ReadLock, A), (Read, X), (Unlock, A)]);
    let writer = manner(&[(Lock, A), (Write, X), (Unlock, A)]);
    let careless = manner(&[(ReadLock, A), (Write, X), (Unlock, A)]);
    assert!(is_no_race(&reader, &writer) && !is_no_race(&reader, &careless));
}

#[test]
fn creation_join_and_messages_order_manners_and_locks_do_not() {
    let events = trace(&[
        (0, 1, Write, X),
        (0, 2, Create, 1),
        (0, 3, Lock, A),
        (0, 4, Write, X),
        (0, 5, Unlock, A),
        (1, 6, Lock, A),
        (1, 7, Write, X),
        (1, 8, Unlock, A),
        (1, 0, Exit, 0),
        (0, 9, Join, 1),
        (0, 10, Write, X),
    ]);
    let pairs = concurrent_pairs(&events, &manner_occurrences(&events));
    let found: Vec<_> = pairs.iter().map(|it| (lines(&it.one.1), lines(&it.other.1))).collect();
    assert_eq!(found, [(vec![3, 4, 5], vec![6, 7, 8])]);
}

#[test]
fn many_iterations_make_few_pairs() {
    let round = |thread| [(thread, 1, Lock, A), (thread, 2, Write, X), (thread, 3, Unlock, A)];
    let steps: Vec<_> = (0..20_000).flat_map(|turn| round(1 + turn % 2)).collect();
    let events = trace(&steps);
    assert_eq!(concurrent_pairs(&events, &manner_occurrences(&events)).len(), 1);
}
