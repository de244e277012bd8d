//! How many variants an execution has, without keeping them.

use std::collections::HashSet;

use threadbare_trace::{Event, ThreadId};

use super::enabled_steps::EnabledSteps;
use super::steps::Steps;
use super::{Ending, Scope, VariantKind};

/// A number, or what it is more than.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Count {
    /// Just this many.
    Exactly(u64),
    /// More than this many.
    MoreThan(u64),
}

impl Count {
    /// The number.
    pub fn number(self) -> u64 {
        let (Count::Exactly(number) | Count::MoreThan(number)) = self;
        number
    }

    fn plus(self, other: Count) -> Count {
        let sum = self.number().saturating_add(other.number());
        match (self, other) {
            (Count::Exactly(_), Count::Exactly(_)) => Count::Exactly(sum),
            _ => Count::MoreThan(sum),
        }
    }
}

/// How large a variant graph is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Its variants.
    pub variants: Count,
    /// Its nodes, variants included.
    pub nodes: Count,
    /// The memory that its nodes take; see [`super::VariantGraph::bytes`].
    pub bytes: Count,
}

impl Size {
    fn plus(self, other: Size) -> Size {
        Size {
            variants: self.variants.plus(other.variants),
            nodes: self.nodes.plus(other.nodes),
            bytes: self.bytes.plus(other.bytes),
        }
    }
}

/// The size of an execution's variant graph; or, if only pairs of threads are varied, of all their graphs together. After `most_nodes` nodes it is
/// left at "more than".
///
/// Every step of a varied thread leads from one layer of nodes to the next, so that only one layer has to be kept.
pub fn size(events: &[Event], ending: &Ending, pairs_only: bool, most_nodes: u64) -> Size {
    if !pairs_only {
        return size_of(events, ending, Scope::All, most_nodes);
    }
    let mut threads: Vec<ThreadId> = events.iter().map(|event| event.thread).collect();
    threads.extend((0..ending.threads).map(ThreadId));
    threads.sort_unstable();
    threads.dedup();
    let nothing = Count::Exactly(0);
    let mut sum = Size { variants: nothing, nodes: nothing, bytes: nothing };
    for (place, one) in threads.iter().enumerate() {
        for other in &threads[place + 1..] {
            let left = most_nodes.saturating_sub(sum.nodes.number());
            sum = sum.plus(size_of(events, ending, Scope::Pair(*one, *other), left));
        }
    }
    sum
}

fn size_of(events: &[Event], ending: &Ending, scope: Scope, most_nodes: u64) -> Size {
    let enabled = EnabledSteps::new(Steps::of(events, ending, scope), scope);
    let mut layer = HashSet::from([enabled.start()]);
    let (mut nodes, mut variants) = (1u64, 0u64);
    let mut is_cut = nodes > most_nodes;
    while !layer.is_empty() && !is_cut {
        let mut next = HashSet::new();
        for state in &layer {
            let found = enabled.look(state);
            variants += found.variants.len() as u64;
            nodes += found.variants.iter().filter(|it| matches!(it, VariantKind::Sees(_))).count() as u64;
            for (_, after) in found.children {
                nodes += u64::from(next.insert(after));
            }
            if nodes > most_nodes {
                is_cut = true;
                break;
            }
        }
        layer = next;
    }
    let count = |number: u64| if is_cut { Count::MoreThan(number) } else { Count::Exactly(number) };
    Size { variants: count(variants), nodes: count(nodes), bytes: count(nodes * enabled.node_bytes() as u64) }
}
