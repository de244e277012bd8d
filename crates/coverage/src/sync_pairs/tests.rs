//! What is required and what is shown, on small traces written by hand.

use threadbare_trace::{Event, EventKind, ThreadId};

use super::model::Model;
use super::*;

const M: u64 = 0x100;
const K: u64 = 0x200;

fn step(thread: u16, pc: u64, kind: EventKind, addr: u64) -> Event {
    Event { thread: ThreadId(thread), pc, addr, kind: kind as u8, ..Event::default() }
}

fn lock(thread: u16, pc: u64, addr: u64) -> Event {
    step(thread, pc, EventKind::Lock, addr)
}

fn unlock(thread: u16, addr: u64) -> Event {
    step(thread, 0, EventKind::Unlock, addr)
}

/// A critical section with nothing in it.
fn section(thread: u16, pc: u64, addr: u64) -> [Event; 2] {
    [lock(thread, pc, addr), unlock(thread, addr)]
}

fn about(thread: u16, kind: EventKind, other: u64) -> Event {
    Event { value: other, ..step(thread, 0, kind, 0) }
}

fn pairs(list: &[(u64, u64)]) -> BTreeSet<PlacePair> {
    list.iter().map(|(first, second)| PlacePair { first: *first, second: *second }).collect()
}

fn estimated(events: &[Event], precision: Precision) -> BTreeSet<PlacePair> {
    estimate(&ObservedExecution::plain(events), precision)
}

/// Figure 2: two threads with two critical sections each; 2a, 4a, 2b, 4b are 12, 14, 22, 24.
fn figure_2() -> Vec<Event> {
    [section(1, 12, M), section(1, 14, M), section(2, 22, M), section(2, 24, M)].concat()
}

#[test]
fn the_example_of_figures_2_and_3_has_its_ten_requirements() {
    let required = pairs(&[
        (12, 14),
        (12, 22),
        (12, 24),
        (14, 22),
        (14, 24),
        (22, 24),
        (22, 12),
        (22, 14),
        (24, 12),
        (24, 14),
    ]);
    assert_eq!(estimated(&figure_2(), Precision::Paper), required);
    assert_eq!(estimated(&figure_2(), Precision::Refined), required);
}

#[test]
fn an_execution_shows_neighbours_on_the_same_lock() {
    assert_eq!(shown(&ObservedExecution::plain(&figure_2())), pairs(&[(12, 14), (14, 22), (22, 24)]));
    let events = [section(1, 1, M), section(2, 2, K), section(2, 3, M)].concat();
    assert_eq!(shown(&ObservedExecution::plain(&events)), pairs(&[(1, 3)]));
}

#[test]
fn what_is_shown_though_nobody_expected_it_is_required_too() {
    let mut criterion = SyncPairs::new(Precision::Paper);
    criterion.observe(&ObservedExecution::plain(&figure_2()));
    assert_eq!((criterion.covered(), criterion.total()), (3, Total::Required(10)));
    criterion.observe(&ObservedExecution::plain(&[section(1, 12, M), section(1, 99, M)].concat()));
    assert_eq!((criterion.covered(), criterion.total()), (4, Total::Required(11)));
    let sets = criterion.pairs().unwrap();
    assert_eq!(sets.unexpected().collect::<BTreeSet<_>>(), pairs(&[(12, 99)]));
    assert_eq!(sets.uncovered().count(), 7);
}

/// A thread that fails half-way leaves out what it would have done.
#[test]
fn the_first_execution_that_passes_is_estimated_from() {
    let cut_short = [section(1, 12, M), section(2, 22, M)].concat();
    let mut criterion = SyncPairs::new(Precision::Paper);
    criterion.observe(&ObservedExecution::plain(&cut_short).ended(true));
    assert_eq!(criterion.pairs().unwrap().estimated, pairs(&[(12, 22), (22, 12)]));
    criterion.observe(&ObservedExecution::plain(&figure_2()).ended(true));
    assert_eq!(criterion.pairs().unwrap().estimated.len(), 2);
    criterion.observe(&ObservedExecution::plain(&figure_2()));
    criterion.observe(&ObservedExecution::plain(&cut_short));
    assert_eq!(criterion.pairs().unwrap().estimated.len(), 10);
}

/// AC2 and AC3: K keeps T2's sections out from between T1's.
#[test]
fn a_common_lock_around_excludes_pairs() {
    let outer = |thread: u16, base: u64| {
        let inner = [section(thread, base + 1, M), section(thread, base + 2, M)].concat();
        [vec![lock(thread, base, K)], inner, vec![unlock(thread, K)]].concat()
    };
    let events = [outer(1, 10), outer(2, 20)].concat();
    let required = pairs(&[(10, 20), (20, 10), (11, 12), (21, 22), (12, 21), (22, 11)]);
    assert_eq!(estimated(&events, Precision::Paper), required);
    // If T2 does not hold K, nothing is mutually excluded.
    let events = [outer(1, 10), section(2, 21, M).to_vec(), section(2, 22, M).to_vec()].concat();
    assert_eq!(estimated(&events, Precision::Paper).len(), 10);
}

/// A lock that is given up between two actions guards neither of them from the other thread.
#[test]
fn only_locks_held_all_the_way_guard() {
    let outer = |thread: u16, base: u64| {
        let one =
            |pc: u64| [vec![lock(thread, base, K)], section(thread, pc, M).to_vec(), vec![unlock(thread, K)]];
        [one(base + 1).concat(), one(base + 2).concat()].concat()
    };
    let events = [outer(1, 10), outer(2, 20)].concat();
    let of_m = estimated(&events, Precision::Paper).into_iter().filter(|pair| pair.first % 10 != 0).count();
    assert_eq!(of_m, 10);
}

/// AC4: what main does before it creates a thread comes before all of it.
#[test]
fn creation_orders_pairs() {
    let events = [
        section(0, 1, M).to_vec(),
        section(0, 2, M).to_vec(),
        vec![about(0, EventKind::Create, 1)],
        section(1, 3, M).to_vec(),
        section(0, 4, M).to_vec(),
    ]
    .concat();
    let paper = estimated(&events, Precision::Paper);
    assert_eq!(paper, pairs(&[(1, 2), (2, 4), (1, 3), (2, 3), (3, 4), (4, 3)]));
    // The section at 2 comes between 1 and 3 whatever happens.
    assert_eq!(estimated(&events, Precision::Refined), pairs(&[(1, 2), (2, 4), (2, 3), (3, 4), (4, 3)]));
}

#[test]
fn a_grandchild_comes_after_what_came_before_its_parent() {
    let events = [
        section(0, 1, M).to_vec(),
        vec![about(0, EventKind::Create, 1), about(1, EventKind::Create, 2)],
        section(2, 3, M).to_vec(),
    ]
    .concat();
    assert_eq!(estimated(&events, Precision::Paper), pairs(&[(1, 3)]));
}

#[test]
fn joins_order_pairs_where_that_is_asked_for() {
    let events = [
        vec![about(0, EventKind::Create, 1)],
        section(1, 3, M).to_vec(),
        vec![about(0, EventKind::Join, 1)],
        section(0, 4, M).to_vec(),
    ]
    .concat();
    assert_eq!(estimated(&events, Precision::Paper), pairs(&[(3, 4), (4, 3)]));
    assert_eq!(estimated(&events, Precision::Refined), pairs(&[(3, 4)]));
}

#[test]
fn signals_and_barriers_order_pairs_where_that_is_asked_for() {
    let signalled = [
        lock(1, 1, M),
        Event { value: M, ..step(1, 2, EventKind::CondWait, 0x300) },
        lock(2, 3, M),
        step(2, 4, EventKind::CondSignal, 0x300),
        unlock(2, M),
        Event { value: M, ..step(1, 2, EventKind::CondWake, 0x300) },
        unlock(1, M),
        lock(1, 5, M),
        unlock(1, M),
    ];
    let paper = estimated(&signalled, Precision::Paper);
    assert_eq!(paper, pairs(&[(1, 5), (1, 3), (3, 1), (3, 5), (5, 3)]));
    assert_eq!(estimated(&signalled, Precision::Refined), pairs(&[(1, 5), (1, 3), (3, 1), (3, 5)]));
    let round = |thread: u16, kind| Event { value: 1, ..step(thread, 9, kind, 0x400) };
    let events = [
        section(1, 1, M).to_vec(),
        [1, 2].map(|thread| round(thread, EventKind::BarrierArrive)).to_vec(),
        [1, 2].map(|thread| round(thread, EventKind::BarrierLeave)).to_vec(),
        section(2, 2, M).to_vec(),
    ]
    .concat();
    assert_eq!(estimated(&events, Precision::Paper), pairs(&[(1, 2), (2, 1)]));
    assert_eq!(estimated(&events, Precision::Refined), pairs(&[(1, 2)]));
}

/// A wait gives its mutex up: others may come between, although no lock statement takes it again.
#[test]
fn a_condition_wait_is_no_lock_statement_but_gives_the_mutex_up() {
    let wait = |kind| Event { value: K, ..step(1, 2, kind, 0x300) };
    let events = [
        vec![lock(1, 10, K)],
        section(1, 11, M).to_vec(),
        vec![wait(EventKind::CondWait), wait(EventKind::CondWake)],
        section(1, 12, M).to_vec(),
        vec![unlock(1, K), lock(2, 20, K)],
        section(2, 21, M).to_vec(),
        vec![unlock(2, K)],
    ]
    .concat();
    let found = estimated(&events, Precision::Paper);
    assert!(
        found.contains(&PlacePair { first: 11, second: 21 })
            && found.contains(&PlacePair { first: 21, second: 12 })
    );
    assert!(found.iter().all(|pair| pair.first != 2 && pair.second != 2));
    assert_eq!(shown(&ObservedExecution::plain(&events)), pairs(&[(10, 20), (11, 12), (12, 21)]));
}

/// Each nested lock statement is a lock action, and only its own thread comes before it. That nobody comes after the
/// outer one holds as long as the nested one is executed.
#[test]
fn taking_a_re_entrant_lock_again_is_a_lock_action() {
    let nested = [lock(1, 1, M), Event { value: 2, ..lock(1, 2, M) }, unlock(1, M), unlock(1, M)];
    let events = [nested.to_vec(), section(2, 3, M).to_vec()].concat();
    assert_eq!(shown(&ObservedExecution::plain(&events)), pairs(&[(1, 2), (2, 3)]));
    assert_eq!(estimated(&events, Precision::Paper), pairs(&[(1, 2), (1, 3), (2, 3), (3, 1)]));
    assert_eq!(estimated(&events, Precision::Refined), pairs(&[(1, 2), (2, 3), (3, 1)]));
}

/// A wait within a re-entrant section lets others in between.
#[test]
fn a_wait_lets_others_come_before_a_nested_lock() {
    let wait = |kind| Event { value: M, ..step(1, 9, kind, 0x300) };
    let events = [
        vec![lock(1, 1, M), wait(EventKind::CondWait)],
        section(2, 3, M).to_vec(),
        vec![wait(EventKind::CondWake), lock(1, 2, M), unlock(1, M), unlock(1, M)],
    ]
    .concat();
    let shows = shown(&ObservedExecution::plain(&events));
    assert_eq!(shows, pairs(&[(1, 3), (3, 2)]));
    assert!(shows.is_subset(&estimated(&events, Precision::Refined)));
}

#[test]
fn readers_come_between_readers_that_hold_the_lock_on() {
    let read = |thread: u16, pc: u64| step(thread, pc, EventKind::ReadLock, M);
    let nested = [read(1, 1), read(1, 2), unlock(1, M), unlock(1, M)];
    let events = [nested.to_vec(), vec![read(2, 3), unlock(2, M)], section(2, 4, M).to_vec()].concat();
    let refined = estimated(&events, Precision::Refined);
    assert!(
        refined.contains(&PlacePair { first: 1, second: 3 })
            && refined.contains(&PlacePair { first: 3, second: 2 })
    );
    assert!(
        !refined.contains(&PlacePair { first: 1, second: 4 })
            && !refined.contains(&PlacePair { first: 4, second: 2 })
    );
}

#[test]
fn an_attempt_that_fails_is_no_lock_action() {
    let failed = step(2, 2, EventKind::LockFailed, M);
    let events = [vec![lock(1, 1, M), failed, unlock(1, M)], section(2, 3, M).to_vec()].concat();
    assert_eq!(shown(&ObservedExecution::plain(&events)), pairs(&[(1, 3)]));
}

#[test]
fn memory_that_is_used_again_is_another_lock() {
    let again = Event { value: 64, ..step(2, 0, EventKind::Alloc, M) };
    let events = [section(1, 1, M).to_vec(), vec![again], section(2, 2, M).to_vec()].concat();
    assert_eq!(shown(&ObservedExecution::plain(&events)), pairs(&[]));
    assert_eq!(estimated(&events, Precision::Paper), pairs(&[]));
}

#[test]
fn places_are_those_of_the_programs_own_code() {
    let seen_by_caller = |event: &Event| u64::from(event.context);
    let at = |context: u32, event: Event| Event { context, ..event };
    let events = [at(7, lock(1, 1, M)), unlock(1, M), at(8, lock(2, 1, M)), unlock(2, M)];
    assert_eq!(shown(&ObservedExecution::new(&events, &seen_by_caller)), pairs(&[(7, 8)]));
}

/// The work depends on the statements, not on how often they are executed.
#[test]
fn loops_add_no_groups() {
    let groups = |rounds: usize| {
        let round = [section(1, 1, M), section(2, 2, M), section(1, 3, K)].concat();
        let events: Vec<Event> = std::iter::repeat_n(round, rounds).flatten().collect();
        Model::of(&ObservedExecution::plain(&events), Precision::Refined).groups.len()
    };
    assert_eq!(groups(10), groups(5000));
}
