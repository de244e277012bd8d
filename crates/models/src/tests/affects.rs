//! Algorithms 3 and 4 on the examples of Tables 2 and 3.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_trace::EventKind::*;

use super::super::variants::{Ending, Scope, VariantGraph};
use super::super::*;
use super::{Flow, N, X, Y, at, flow_3_6, section_3_6, trace, ud};

#[test]
fn table_2() {
    let events = trace(&[
        (2, 10, Write, X),
        (2, 11, Write, Y),
        (1, 1, Read, X),
        (1, 1, Read, Y),
        (1, 1, Write, N),
        (1, 2, Read, N),
        (1, 7, Read, Y),
        (2, 12, Read, X),
    ]);
    let seen = UseDefines::of(&events);
    let set = [
        ud(X, (1, 1), (2, 10)),
        ud(N, (1, 2), (1, 1)),
        ud(Y, (1, 1), (2, 11)),
        ud(X, (2, 12), (2, 10)),
        ud(Y, (1, 7), (2, 11)),
    ];
    assert_eq!(seen.actual, set.into());
    let branches = branch_instances(&events, &flow_3_6());
    assert_eq!(branches, [BranchInstance { at: at(1, 2), instance: 0, decided_by: 5 }]);
    let related = branch_related(&branches[0], &seen, &flow_3_6());
    assert_eq!(related, [ud(X, (1, 1), (2, 10)), ud(Y, (1, 1), (2, 11))].into());
}

#[test]
fn table_3() {
    let events = section_3_6();
    let ending = Ending::default();
    let graph = VariantGraph::of(&events, &ending, Scope::All, 1000);
    let branch = branch_instances(&events, &flow_3_6())[0];
    let (x, y) = (ud(X, (1, 1), (2, 10)), ud(Y, (1, 1), (2, 11)));
    let groups = branch_affect_groups(&branch, &[x, y].into(), &graph, &events);
    let sizes: BTreeMap<BTreeSet<UseDefine>, usize> =
        groups.into_iter().map(|group| (group.use_defines, group.members.len())).collect();
    let expected = [([].into(), 2), ([y].into(), 2), ([x].into(), 1), ([x, y].into(), 2)];
    assert_eq!(sizes, expected.into());
}

#[test]
fn what_a_thread_does_after_a_branch_does_not_decide_it() {
    // The branch is in line 1; its thread then writes y, which the other one reads into x.
    let events = trace(&[
        (2, 10, Write, X),
        (1, 1, Read, X),
        (1, 2, Write, Y),
        (2, 11, Read, Y),
        (2, 12, Write, X),
        (1, 1, Read, X),
    ]);
    let flow = Flow { branches: vec![(1, vec![1])], writes: vec![(11, vec![12])], ..Flow::default() };
    let branches = branch_instances(&events, &flow);
    let instances: Vec<_> = branches.iter().map(|it| (it.instance, it.decided_by)).collect();
    assert_eq!(instances, [(0, 1), (1, 5)]);
    let seen = UseDefines::of(&events);
    assert_eq!(branch_related(&branches[0], &seen, &flow), [ud(X, (1, 1), (2, 10))].into());
    let all = [ud(X, (1, 1), (2, 10)), ud(X, (1, 1), (2, 12)), ud(Y, (2, 11), (1, 2))];
    assert_eq!(branch_related(&branches[1], &seen, &flow), all.into());
}
