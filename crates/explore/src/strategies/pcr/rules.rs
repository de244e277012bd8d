//! The rules that remove pattern candidates before anything is solved (Table 2 of the paper), one function each. Each
//! says whether a candidate is to be removed.

use threadbare_patterns::{
    self as patterns, AccessType, Pattern, PatternKey, PatternRole, PatternSet, PatternStep, Variable,
};

use super::accesses::{Access, Accesses};

/// Rule 1, non-defined: it is none of the seventeen patterns. Where it is one, gives that.
pub(super) fn defined(candidate: &[&Access]) -> Option<Pattern> {
    let first = candidate.first()?;
    let step = |access: &&Access| -> PatternStep {
        let role = if access.thread == first.thread { PatternRole::A } else { PatternRole::B };
        let variable = if access.object == first.object { Variable::X } else { Variable::Y };
        (role, access.manner, variable)
    };
    patterns::find(&candidate.iter().map(step).collect::<Vec<PatternStep>>())
}

/// What a candidate is known by in all executions.
pub(super) fn key(pattern: &Pattern, candidate: &[&Access]) -> Option<PatternKey> {
    let steps: Vec<_> = candidate.iter().map(|access| (access.site, access.object)).collect();
    PatternKey::of(pattern, &steps)
}

/// Rule 2, covered: some execution has shown it.
pub(super) fn is_covered(key: PatternKey, covered: &PatternSet) -> bool {
    covered.contains(key)
}

/// Rule 3, happens-before: a thread would have to make its steps in another order than it does.
pub(super) fn is_against_happens_before(candidate: &[&Access]) -> bool {
    candidate.iter().enumerate().any(|(at, later)| {
        let mut before = candidate[..at].iter().filter(|earlier| earlier.thread == later.thread);
        before.any(|earlier| earlier.place >= later.place || earlier.step == later.step)
    })
}

/// Rule 4, old state: a pattern of one variable in which every read would see what it saw, and every write would come
/// where it came.
pub(super) fn is_old_state(candidate: &[&Access]) -> bool {
    let one_variable = candidate.windows(2).all(|two| two[0].object == two[1].object);
    one_variable && !candidate.windows(2).any(|two| is_new(two[0], two[1]))
}

/// Rule 6, redundant exchange: a pattern of two variables that shows nothing new of either. Only the order between the accesses to
/// the one and those to the other would be different, and no thread would notice.
pub(super) fn is_redundant_exchange(candidate: &[&Access]) -> bool {
    let (x, y): (Vec<&Access>, Vec<&Access>) =
        candidate.iter().partition(|access| access.object == candidate[0].object);
    let nothing_new = |on: &[&Access]| !on.windows(2).any(|two| is_new(two[0], two[1]));
    !y.is_empty() && nothing_new(&x) && nothing_new(&y)
}

/// Whether two accesses to a variable, one right after the other, show something that the trace did not: a read sees
/// something else than it saw, or may do so because it comes before a write that it came after, or writes come in
/// another order.
fn is_new(first: &Access, second: &Access) -> bool {
    match (first.manner, second.manner) {
        (AccessType::Writes, AccessType::Reads) => !first.leaves_what_was_seen_by(second),
        (_, AccessType::Writes) => second.place < first.place,
        (AccessType::Reads, AccessType::Reads) => false,
    }
}

/// Rule 5, interrupted: between two accesses of a thread, the same thread always makes another one that takes part
/// instead. If that one writes, then the pattern would step over a write; if it is of the same manner as one of
/// the two, then it makes the same pattern with the other one, wherever it comes.
pub(super) fn is_interrupted(candidate: &[&Access], accesses: &Accesses) -> bool {
    let is_member = |other: &Access| candidate.iter().any(|access| access.place == other.place);
    let by_its_own_write = |(at, read): (usize, &&Access)| {
        let mut later = candidate[at + 1..].iter();
        read.updates && !read.writes() && later.any(|other| other.object == read.object)
    };
    candidate.iter().enumerate().any(by_its_own_write)
        || candidate.iter().enumerate().any(|(at, later)| {
            let earlier = candidate[..at].iter().rev().find(|earlier| earlier.thread == later.thread);
            earlier.is_some_and(|earlier| {
                let span = (earlier.place, later.place);
                [earlier, later].into_iter().any(|end| {
                    accesses.between(end.object, end.thread, span).any(|other| {
                        let replaces = other.writes()
                            || [earlier, later]
                                .iter()
                                .any(|it| it.object == other.object && it.manner == other.manner);
                        !is_member(other) && replaces
                    })
                })
            })
        })
}
