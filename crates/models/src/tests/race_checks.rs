//! §5.4 and Algorithm 12.

use std::collections::BTreeMap;

use threadbare_trace::EventKind::*;
use threadbare_trace::ThreadId;

use super::super::*;
use super::{A, B, X, Y, trace};

/// Figure 60: what another execution has in common with the one before is not checked again.
#[test]
fn only_pairs_with_a_new_manner_are_checked() {
    let locked = |thread, line, lock, variable| {
        [(thread, line, Lock, lock), (thread, line + 1, Write, variable), (thread, line + 2, Unlock, lock)]
    };
    let [one, two, four, a] =
        [locked(1, 10, A, X), locked(1, 20, A, Y), locked(1, 30, B, X), locked(2, 40, A, X)];
    let mut checks = Checks::default();
    let none: [MannerPair; 0] = [];
    assert_eq!(checks.may_race(&trace(&[one, two, a].concat())), none);
    assert_eq!((checks.groups(), checks.made(), checks.saved()), (1, 2, 0));
    // The same in another order, and with more rounds.
    assert!(!checks.need_a_look(&trace(&[a, one, two, one].concat())));
    assert_eq!((checks.groups(), checks.made(), checks.saved()), (1, 2, 2));
    let other = trace(&[one, two, four, a].concat());
    assert!(!checks.is_known_group(&Manners::of(&other)));
    let suspicious = checks.may_race(&other);
    assert_eq!(suspicious.len(), 1);
    assert_eq!(suspicious[0].one.1.operations()[0].site, 30);
    assert_eq!((checks.groups(), checks.made(), checks.saved()), (2, 3, 4));
    // What may race still may when it comes again: it need not have happened.
    assert_eq!(checks.may_race(&other), suspicious);
    assert!(checks.need_a_look(&other));
    assert_eq!((checks.made(), checks.cleared()), (3, 1));
}

/// Figure 97: two threads with a branch each, seen to go both ways, though not together.
#[test]
fn paths_of_different_executions_are_combined() {
    let path_a = [(1, 1, Lock, A), (1, 2, Write, X), (1, 3, Unlock, A)];
    let path_b = [(1, 4, Lock, B), (1, 5, Write, X), (1, 6, Unlock, B)];
    let path_p = [(2, 7, Lock, A), (2, 8, Write, X), (2, 9, Unlock, A)];
    let path_q = [(2, 10, Lock, A), (2, 11, Write, Y), (2, 12, Unlock, A)];
    let mut history = Combinations::default();
    let none: [Combination; 0] = [];
    assert_eq!(history.add(&trace(&[path_a, path_p].concat())).1, none);
    assert_eq!(history.add(&trace(&[path_p, path_a].concat())).1, none, "the same paths in another order");
    let (shown, found) = history.add(&trace(&[path_b, path_q].concat()));
    assert_eq!((shown[&ThreadId(1)], shown[&ThreadId(2)]), (1, 1));
    let of = |it: &Combination| (it.paths[&ThreadId(1)], it.paths[&ThreadId(2)], it.label);
    let found: Vec<_> = found.iter().map(of).collect();
    // A with Q, and B with P, which share x without a common lock.
    assert_eq!(found, [(0, 1, Label::NoRace), (1, 0, Label::PotentialRace)]);
    let label = |one, other| history.label(&BTreeMap::from([(ThreadId(1), one), (ThreadId(2), other)]));
    assert_eq!(label(0, 1), Some(Label::NoRace));
    assert_eq!(label(1, 0), Some(Label::PotentialRace));
    assert_eq!(label(2, 0), None, "a path that nobody has taken");
}

#[test]
fn what_creation_orders_is_no_race_in_a_combination_either() {
    let start = [(0, 1, Write, X), (0, 2, Create, 1)];
    let one = trace(&[&start[..], &[(1, 3, Read, X)]].concat());
    let other = trace(&[&start[..], &[(1, 4, Write, X)], &[(0, 5, Read, Y)]].concat());
    let mut history = Combinations::default();
    history.add(&one);
    assert!(history.add(&other).1.iter().all(|it| it.label == Label::NoRace));
}
