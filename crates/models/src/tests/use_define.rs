//! Use-defines of Figures 33 and 42, and what orders and locks rule out.

use std::collections::BTreeSet;

use threadbare_trace::EventKind::*;

use super::super::*;
use super::{A, N, REF1, REF2, X, Y, at, figure_33, trace, ud};

#[test]
fn figure_33_has_the_use_defines_of_the_text() {
    let seen = UseDefines::of(&figure_33());
    let actual = [
        ud(X, (1, 3), (1, 1)),
        ud(Y, (1, 3), (1, 2)),
        ud(X, (2, 25), (2, 20)),
        ud(N, (1, 4), (1, 3)),
        ud(REF2, (2, 27), (2, 23)),
        // What ref1 refers to was there before.
        UseDefine { used: Use { variable: REF1, at: at(3, 30) }, defined: None },
    ];
    assert_eq!(seen.actual, actual.into());
    let potential = [ud(X, (1, 3), (2, 20)), ud(X, (2, 25), (1, 1)), ud(REF2, (2, 27), (3, 30))];
    assert_eq!(seen.potential, potential.into());
    let defines = |variable, thread, line| seen.define_set(Use { variable, at: at(thread, line) });
    assert_eq!(defines(X, 1, 3), BTreeSet::from([Some(at(1, 1)), Some(at(2, 20))]));
    assert_eq!(defines(Y, 1, 3), BTreeSet::from([Some(at(1, 2))]));
    assert_eq!(defines(N, 1, 4), BTreeSet::from([Some(at(1, 3))]));
    assert!(seen.is_shared(X) && !seen.is_shared(N));
}

fn potential(steps: &[(u16, u64, threadbare_trace::EventKind, u64)]) -> Vec<(u64, Option<u64>)> {
    let seen = UseDefines::of(&trace(steps));
    seen.potential.iter().map(|it| (it.used.at.site, it.defined.map(|define| define.site))).collect()
}

#[test]
fn what_creation_and_join_order_cannot_be_otherwise() {
    let steps = [
        (0, 1, Write, X),
        (0, 2, Create, 1),
        (1, 3, Read, X),
        (1, 4, Write, X),
        (1, 0, Exit, 0),
        (0, 5, Join, 1),
        (0, 6, Read, X),
    ];
    assert_eq!(potential(&steps), []);
    // Without the join, both reads may be too early or too late.
    let without = [&steps[..5], &steps[6..]].concat();
    assert_eq!(potential(&without), [(6, Some(1))]);
}

#[test]
fn a_critical_section_lets_nobody_come_in_between() {
    // The first thread finds its own value, and what the second one overwrites in its section is never seen.
    let steps = [
        (1, 1, Lock, A),
        (1, 2, Write, X),
        (1, 3, Read, X),
        (1, 4, Unlock, A),
        (1, 5, Read, X),
        (2, 6, Lock, A),
        (2, 7, Write, X),
        (2, 8, Write, X),
        (2, 9, Unlock, A),
    ];
    // Line 5 reads without the lock, and may come between lines 7 and 8.
    assert_eq!(potential(&steps), [(5, Some(7)), (5, Some(8))]);
}

#[test]
fn a_first_read_may_also_find_what_was_there() {
    assert_eq!(potential(&[(2, 1, Write, X), (1, 2, Read, X)]), [(2, None)]);
    assert_eq!(potential(&[(1, 2, Read, X), (2, 1, Write, X)]), [(2, Some(1))]);
}

#[test]
fn an_update_does_not_see_itself() {
    let steps = [(1, 1, AtomicUpdate, X), (2, 2, AtomicUpdate, X)];
    assert_eq!(potential(&steps), [(1, Some(2)), (2, None)]);
}

#[test]
fn memory_that_is_allocated_again_is_another_variable() {
    let mut events = trace(&[(1, 1, Write, X), (1, 2, Alloc, X), (2, 3, Read, X)]);
    events[1].value = 8;
    let seen = UseDefines::of(&events);
    assert!(seen.actual.iter().all(|it| it.defined.is_none()) && seen.potential.is_empty());
}

#[test]
fn an_access_to_a_part_uses_the_part() {
    let mut events = trace(&[(1, 1, Write, X), (2, 2, Write, X + 4), (1, 3, Read, X)]);
    events[1].size = 4;
    let seen = UseDefines::of(&events);
    assert_eq!(seen.actual, [ud(X, (1, 3), (1, 1)), ud(X + 4, (1, 3), (2, 2))].into());
    assert_eq!(seen.potential, [ud(X + 4, (1, 3), (1, 1))].into());
}

#[test]
fn long_loops_are_looked_at_in_reasonable_time() {
    let steps: Vec<_> = (0..30_000)
        .flat_map(|turn| {
            let thread = 1 + turn % 2;
            [(thread, 1, Read, X), (thread, 2, Write, X), (thread, 3, Read, Y)]
        })
        .collect();
    let seen = UseDefines::of(&trace(&steps));
    assert_eq!(seen.define_set(Use { variable: X, at: at(1, 1) }).len(), 3);
}
