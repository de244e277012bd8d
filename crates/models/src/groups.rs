//! Branch-affect groups (Algorithm 4): execution-variants that decide a branch by the same use-defines.

use std::collections::BTreeSet;

use threadbare_trace::Event;

use super::affects::BranchInstance;
use super::use_define::{UseDefine, UseDefines};
use super::variants::{Variant, VariantGraph};

/// Variants that make a branch go the same way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BranchAffectGroup {
    /// The use-defines by which the branch is decided.
    pub use_defines: BTreeSet<UseDefine>,
    /// The variants, as places in their list.
    pub members: Vec<usize>,
}

/// Groups the variants of a recorded execution for one of its branches. `related` is what may decide the branch
/// ([`super::branch_related`], over all that reads could see).
pub fn branch_affect_groups(
    branch: &BranchInstance,
    related: &BTreeSet<UseDefine>,
    graph: &VariantGraph,
    events: &[Event],
) -> Vec<BranchAffectGroup> {
    let mut groups: Vec<BranchAffectGroup> = Vec::new();
    for (place, variant) in graph.variants().iter().enumerate() {
        let sequence = up_to_branch(branch, variant, graph, events);
        let seen = UseDefines::actual_of(&sequence);
        let use_defines: BTreeSet<UseDefine> = seen.actual.intersection(related).copied().collect();
        match groups.iter_mut().find(|group| group.use_defines == use_defines) {
            Some(group) => group.members.push(place),
            None => groups.push(BranchAffectGroup { use_defines, members: vec![place] }),
        }
    }
    groups
}

/// The steps of a variant, and those with which the branch's thread then comes to the branch.
fn up_to_branch(
    branch: &BranchInstance,
    variant: &Variant,
    graph: &VariantGraph,
    events: &[Event],
) -> Vec<Event> {
    let prefix = graph.events_of(variant);
    let made: BTreeSet<usize> = prefix.iter().copied().collect();
    let own = |index: &usize| events[*index].thread == branch.at.thread;
    let rest = (0..=branch.decided_by).filter(|index| own(index) && !made.contains(index));
    prefix
        .iter()
        .copied()
        .filter(|index| !own(index) || *index <= branch.decided_by)
        .chain(rest)
        .map(|index| events[index])
        .collect()
}
