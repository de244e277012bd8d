//! Variant graphs of Figures 35, 43 and 55, and of locks, waits and failures.

use threadbare_trace::EventKind::{self, *};
use threadbare_trace::{Event, ThreadId};

use super::super::variants::{Count, Ending, Scope, ShownClasses, VariantGraph, VariantKind, size};
use super::{A, B, X, Y, ended, section_3_6, trace};

const ENDING: Ending = Ending { threads: 0, brought_down_by: None, ended_by: None };

fn graph(events: &[Event]) -> VariantGraph {
    VariantGraph::of(events, &ENDING, Scope::All, 100_000)
}

/// The prefixes of all variants, as lines.
fn prefixes(events: &[Event], graph: &VariantGraph) -> Vec<Vec<u64>> {
    let lines = |events_of: Vec<usize>| {
        events_of.into_iter().map(|index| events[index].pc).filter(|line| *line != 0).collect()
    };
    graph.variants().iter().map(|variant| lines(graph.events_of(variant))).collect()
}

#[test]
fn figures_35_and_43_have_seven_variants() {
    let events = section_3_6();
    let graph = graph(&events);
    assert_eq!(graph.variants().len(), 7);
    // Each thread reads or writes x and y three times, and fourteen of the sixteen nodes can be reached.
    assert_eq!(graph.nodes(), 14 + 7);
    assert_eq!(graph.bytes(), 21 * 4 * (2 + 2));
    assert!(!graph.is_cut() && !graph.keeps_order());
    let size = size(&events, &ENDING, false, 1000);
    assert_eq!((size.variants, size.nodes), (Count::Exactly(7), Count::Exactly(21)));
    assert_eq!(size.bytes, Count::Exactly(graph.bytes() as u64));
}

/// Table 10 lists what was executed first as V1, and three variants of it.
#[test]
fn figure_55_has_four_test_cases() {
    // Of Figure 33, only x and y.
    let steps = [
        (1, 1, Write, X),
        (1, 2, Write, Y),
        (1, 3, Read, X),
        (1, 3, Read, Y),
        (2, 20, Write, X),
        (2, 25, Read, X),
    ];
    let events = ended(&steps);
    let graph = graph(&events);
    let mut found: Vec<(Option<u64>, Option<u64>)> = Vec::new();
    for variant in graph.variants() {
        let mut order = graph.events_of(variant);
        order.extend((0..events.len()).filter(|index| !order.contains(index)).collect::<Vec<_>>());
        let (mut x, mut seen) = (0, (None, None));
        for event in order.into_iter().map(|index| &events[index]) {
            match (event.pc, event.kind()) {
                (line, Some(Write)) if event.addr == X => x = line,
                (3, Some(Read)) if event.addr == X => seen.0 = Some(x),
                (25, Some(Read)) => seen.1 = Some(x),
                _ => {}
            }
        }
        found.push(seen);
    }
    found.sort_unstable();
    // V3, V2 and V4: whose value lines 3 and 25 see; V1 saw 1 and 20.
    assert_eq!(found, [(Some(1), Some(1)), (Some(20), Some(20)), (Some(20), Some(20))]);
}

#[test]
fn locks_rule_out_what_cannot_happen() {
    let section = |thread, line| {
        [
            (thread, line, Lock, A),
            (thread, line + 1, Read, X),
            (thread, line + 2, Write, X),
            (thread, line + 3, Unlock, A),
        ]
    };
    let events = ended(&[section(1, 10), section(2, 20)].concat());
    // The second thread's section comes first, and nothing else.
    assert_eq!(prefixes(&events, &graph(&events)), [[20, 21]]);
    let without: Vec<Event> = events.iter().filter(|it| it.addr == X).copied().collect();
    assert!(graph(&without).variants().len() > 1);
}

#[test]
fn a_deadlock_in_another_order_is_a_variant() {
    let nested = |thread, line, first, second| {
        [
            (thread, line, Lock, first),
            (thread, line + 1, Lock, second),
            (thread, line + 2, Unlock, second),
            (thread, line + 3, Unlock, first),
        ]
    };
    let mut steps = [nested(1, 10, A, B), nested(2, 20, B, A)].concat();
    steps.extend([(1, 0, Exit, 0), (2, 0, Exit, 0)]);
    let events = trace(&steps);
    let graph = graph(&events);
    assert_eq!(graph.variants().iter().map(|it| it.kind).collect::<Vec<_>>(), [VariantKind::Stuck]);
    assert_eq!(graph.events_of(&graph.variants()[0]).len(), 2);
}

#[test]
fn a_lock_for_readers_lets_readers_in() {
    let reader = |thread, line| {
        [
            (thread, line, ReadLock, A),
            (thread, line + 1, Write, X + u64::from(thread) * 8),
            (thread, line + 2, Unlock, A),
        ]
    };
    let both = ended(&[reader(1, 10), reader(2, 20)].concat());
    assert_eq!(graph(&both).nodes(), 9, "every order is possible");
    let writer = [(2, 20, Lock, A), (2, 21, Write, Y), (2, 22, Unlock, A)];
    assert_eq!(graph(&ended(&[reader(1, 10), writer].concat())).nodes(), 9 - 1);
}

/// A thread that waits wakes up only after a notification that came later than its wait.
#[test]
fn waits_and_notifications() {
    let mut steps = vec![
        (1, 10, Lock, A),
        (1, 11, CondWait, B),
        (2, 20, Lock, A),
        (2, 21, Write, X),
        (2, 22, CondBroadcast, B),
        (2, 23, Unlock, A),
        (1, 11, CondWake, B),
        (1, 12, Read, X),
        (1, 13, Unlock, A),
    ];
    steps.extend([(1, 0, Exit, 0), (2, 0, Exit, 0)]);
    let mut events = trace(&steps);
    for event in &mut events {
        if event.addr == B && event.kind() != Some(CondBroadcast) {
            event.value = A;
        }
    }
    let graph = graph(&events);
    // If the notification comes first it is lost, and the first thread waits for ever.
    assert_eq!(prefixes(&events, &graph), [[20, 21, 22, 23, 10, 11]]);
    assert_eq!(graph.variants()[0].kind, VariantKind::Stuck);
}

#[test]
fn semaphores_count() {
    let events = ended(&[(1, 1, SemPost, A), (2, 2, SemWait, A), (2, 3, Write, X), (1, 4, Write, X)]);
    let mut events = events;
    events[0].value = 1;
    // Line 4 may come before line 3, and before line 2; line 2 may not come before line 1.
    assert_eq!(prefixes(&events, &graph(&events)), [vec![1, 4], vec![1, 2, 4]]);
}

#[test]
fn threads_begin_after_their_creation_and_are_joined_after_their_end() {
    let events = trace(&[
        (0, 1, Create, 1),
        (1, 10, Write, X),
        (0, 2, Write, X),
        (1, 11, Write, X),
        (1, 0, Exit, 0),
        (0, 3, Join, 1),
        (0, 4, Read, X),
        (0, 0, Exit, 0),
    ]);
    assert_eq!(prefixes(&events, &graph(&events)), [vec![1, 2], vec![1, 10, 11]]);
}

/// An execution that failed does not show what others would have done.
#[test]
fn others_may_go_on_where_a_failure_ended_all() {
    let events = trace(&[(1, 1, Read, X), (2, 10, Write, X), (1, 2, Read, X)]);
    let ending = Ending { threads: 3, brought_down_by: Some(ThreadId(1)), ended_by: None };
    let graph = VariantGraph::of(&events, &ending, Scope::All, 1000);
    let kinds: Vec<VariantKind> = graph.variants().iter().map(|it| it.kind).collect();
    // T0 has shown nothing at all, T2 one step. They may run before T1's failure, and where T1 would vary.
    let sees = VariantKind::Sees(ThreadId(1));
    let [zero, other] = [VariantKind::GoesOn(ThreadId(0)), VariantKind::GoesOn(ThreadId(2))];
    let expected = [sees, sees, zero, zero, other, other];
    let mut sorted = kinds.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
}

/// Who comes after a release is not in the class of who came before it.
#[test]
fn a_use_after_free_is_a_variant_of_its_own() {
    let mut events = ended(&[(1, 1, Read, X), (2, 2, Free, X)]);
    events[1].value = 8;
    let graph = graph(&events);
    assert_eq!(prefixes(&events, &graph), [[2, 1]]);
    let late = ended(&[(2, 2, Free, X), (1, 1, Read, X)]);
    let late: Vec<Event> =
        late.into_iter().map(|it| if it.pc == 2 { Event { value: 8, ..it } } else { it }).collect();
    assert_eq!(prefixes(&late, &VariantGraph::of(&late, &ENDING, Scope::All, 100)), [[1]]);
    let key = graph.key(&graph.variants()[0], &events);
    assert!(!ShownClasses::of(&events).shows(&key) && ShownClasses::of(&late).shows(&key));
}

#[test]
fn freeing_a_mutex_that_others_use_is_kept_in_its_order() {
    let mut events = ended(&[(1, 1, Lock, X), (1, 2, Unlock, X), (2, 3, Free, X)]);
    for event in events.iter_mut().filter(|event| event.kind() == Some(Free)) {
        event.value = 64;
    }
    assert!(graph(&events).keeps_order());
    let own = ended(&[(1, 1, Lock, X), (1, 2, Unlock, X), (2, 3, Free, Y)]);
    assert!(!graph(&own).keeps_order());
}

/// The thread that never came to its lock has begun all the same, and what it would do with the lock is a variant.
#[test]
fn who_is_blocked_from_the_beginning_runs_on_after_its_beginning() {
    let steps = [(1, 1, Start, 0), (1, 2, Lock, X), (2, 3, Start, 0)];
    let events = trace(&steps);
    let ending = Ending { threads: 3, ..ENDING };
    let graph = VariantGraph::of(&events, &ending, Scope::All, 100_000);
    let shown = ShownClasses::of(&events);
    let late = graph.variants().iter().find(|variant| variant.kind == VariantKind::GoesOn(ThreadId(2)));
    let late = late.expect("a variant");
    assert!(graph.events_of(late).contains(&2), "all that is known of the thread comes first");
    assert!(!shown.shows(&graph.key(late, &events)), "the execution has not shown what comes then");
}

#[test]
fn a_try_that_fails_may_succeed() {
    let events = trace(&[
        (1, 1, Lock, A),
        (2, 10, LockFailed, A),
        (1, 2, Unlock, A),
        (1, 0, Exit, 0),
        (2, 0, Exit, 0),
    ]);
    assert_eq!(prefixes(&events, &graph(&events)), [vec![10], vec![1, 2, 10]]);
}

#[test]
fn a_pair_of_threads_is_varied_and_the_others_stay() {
    let events =
        ended(&[(1, 1, Write, X), (2, 2, Read, X), (3, 3, Read, X), (3, 4, Write, Y), (1, 5, Read, Y)]);
    let pair = |one, other| {
        let scope = Scope::Pair(ThreadId(one), ThreadId(other));
        let graph = VariantGraph::of(&events, &ENDING, scope, 1000);
        let mut found = prefixes(&events, &graph);
        found.sort();
        found
    };
    assert_eq!(pair(1, 2), [[2]]);
    assert_eq!(pair(2, 3), [[0u64; 0]; 0]);
    assert_eq!(pair(1, 3), [vec![1, 2, 3, 5], vec![1, 2, 5], vec![3]]);
    assert_eq!(size(&events, &ENDING, true, 1000).variants, Count::Exactly(4));
}

#[test]
fn what_is_too_large_is_said_to_be_more() {
    let steps: Vec<(u16, u64, EventKind, u64)> =
        (0..400).map(|turn| (turn % 4, u64::from(turn), Write, X)).collect();
    let events = ended(&steps);
    let large = size(&events, &ENDING, false, 2_000_000);
    let cut = VariantGraph::of(&events, &ENDING, Scope::All, 50);
    assert!(cut.nodes() <= 60);
    // Writes to one variable leave one order, and a variant wherever somebody else could come.
    assert_eq!(large.variants, Count::Exactly(400 * 3 - (1 + 2 + 3)));
    let free: Vec<_> = (0..400).map(|turn| (turn % 4, u64::from(turn), Lock, A + u64::from(turn))).collect();
    let free = size(&trace(&free), &ENDING, false, 100_000);
    assert!(matches!(free.nodes, Count::MoreThan(nodes) if nodes >= 100_000));
    assert!(matches!(size(&events, &ENDING, true, 1_000_000).variants, Count::Exactly(_)));
}
