//! The variables of a trace: pieces of memory that no access divides.
//!
//! Accesses of mixed sizes cut memory into pieces; an access to several of them is one to each. Memory that is
//! allocated again, or belongs to another call, holds new variables.

use std::collections::BTreeMap;

use threadbare_happens_before::{AccessedBytes, reused_range};
use threadbare_trace::{Event, EventKind};

/// The number of a variable in its trace.
pub(super) type VariableId = usize;

/// The range in which an event makes new variables. Memory that is released holds the old ones until it is allocated again: who comes too late
/// is adjacent to the release.
pub(super) fn renewed(event: &Event) -> Option<(u64, u64)> {
    let kind = event.kind().filter(|kind| *kind != EventKind::Free)?;
    reused_range(event, kind)
}

/// What each event does to which variables.
pub(super) struct Variables {
    /// The first byte of each variable.
    pub(super) addresses: Vec<u64>,
    /// For each event, how it touches memory, and which variables.
    pub(super) touched: Vec<Option<(AccessedBytes, Vec<VariableId>)>>,
}

impl Variables {
    /// The variables of an execution.
    pub(super) fn of(events: &[Event]) -> Variables {
        let touches: Vec<Option<AccessedBytes>> =
            events.iter().map(|event| AccessedBytes::of(event, event.kind()?)).collect();
        let mut cuts: Vec<u64> =
            touches.iter().flatten().flat_map(|touch| [touch.addr, touch.addr + touch.len]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        // The variable that is in the piece from this cut to the next one, if it has been touched.
        let mut current: BTreeMap<u64, VariableId> = BTreeMap::new();
        let mut variables = Variables { addresses: Vec::new(), touched: Vec::with_capacity(events.len()) };
        for (event, touch) in events.iter().zip(touches) {
            let touched = touch.map(|touch| {
                let from = cuts.partition_point(|cut| *cut < touch.addr);
                let to = cuts.partition_point(|cut| *cut < touch.addr + touch.len);
                let pieces = cuts[from..to].iter().map(|cut| {
                    *current.entry(*cut).or_insert_with(|| {
                        variables.addresses.push(*cut);
                        variables.addresses.len() - 1
                    })
                });
                (touch, pieces.collect())
            });
            variables.touched.push(touched);
            if let Some((first, last)) = renewed(event) {
                let gone: Vec<u64> = current.range(first..=last).map(|(cut, _)| *cut).collect();
                for cut in gone {
                    current.remove(&cut);
                }
            }
        }
        variables
    }
}
