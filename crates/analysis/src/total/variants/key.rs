//! By what a variant is known again among those of other executions.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use threadbare_trace::{Event, ThreadId};

use super::{Variant, VariantGraph, VariantKind};
use crate::access::{Touch, reborn};
use crate::memory::Memory;

/// The class of a variant's prefix: what each thread has done, and whose values it saw or replaced. Prefixes that differ only in the
/// order of steps that do not meet have the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariantKey {
    threads: Vec<(ThreadId, u64)>,
    /// Who goes on where nothing is known of it, or that nobody does; a step that sees something else is one of the prefix.
    then: Option<VariantKind>,
}

impl VariantKey {
    /// The class of some steps in this order.
    pub fn of_events<'a>(events: impl Iterator<Item = &'a Event>, then: Option<VariantKind>) -> VariantKey {
        let mut memory: Memory<Option<(ThreadId, u32)>> = Memory::default();
        let mut threads: BTreeMap<ThreadId, DefaultHasher> = BTreeMap::new();
        for event in events {
            let Some(kind) = event.kind() else { continue };
            if let Some(touch) = Touch::of(event, kind) {
                let hasher = threads.entry(event.thread).or_default();
                (event.op, event.kind, event.addr, touch.len).hash(hasher);
                let mut last = None;
                memory.visit(touch.addr, touch.len, |at, writer| {
                    // Pieces with the same writer are one, however often others have cut the memory.
                    if last != Some(*writer) {
                        (at, *writer).hash(hasher);
                        last = Some(*writer);
                    }
                    if touch.writes {
                        *writer = Some((event.thread, event.op));
                    }
                });
            } else if !kind.only_names() {
                (event.op, event.kind).hash(threads.entry(event.thread).or_default());
            }
            if let Some((first, last)) = reborn(event, kind) {
                memory.forget(first, last);
            }
        }
        let threads = threads.into_iter().map(|(thread, hasher)| (thread, hasher.finish())).collect();
        VariantKey { threads, then }
    }
}

impl VariantGraph {
    /// The class of a variant of the execution with these events.
    pub fn key(&self, variant: &Variant, events: &[Event]) -> VariantKey {
        let then = Some(variant.kind).filter(|kind| !matches!(kind, VariantKind::Sees(_)));
        VariantKey::of_events(self.events_of(variant).into_iter().map(|index| &events[index]), then)
    }
}
