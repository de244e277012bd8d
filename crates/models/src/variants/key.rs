//! By what a variant is known again among those of other executions.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use threadbare_happens_before::{AccessedBytes, ShadowMemory};
use threadbare_trace::{Event, ThreadId};

use super::super::variables::renewed;
use super::step_effects::objects;
use super::{Variant, VariantGraph, VariantKind};

/// The class of a variant's prefix: what each thread has done, and whose values it saw or replaced. Prefixes that differ only in the
/// order of independent steps have the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariantKey {
    threads: Vec<(ThreadId, u64)>,
    /// Which thread runs on where nothing is known of it, or that none is enabled; a step that sees something else is one of the prefix.
    then: Option<VariantKind>,
}

/// What threads have done and seen so far.
#[derive(Default)]
struct Observed {
    memory: ShadowMemory<Option<(ThreadId, u32)>>,
    threads: BTreeMap<ThreadId, DefaultHasher>,
    lives: HashMap<u64, ObservedLife>,
}

/// What became of a synchronization object: a use sees whether its life has ended, and the end sees who has used it.
#[derive(Default)]
struct ObservedLife {
    began_or_ended: Option<(ThreadId, u32)>,
    uses: BTreeMap<ThreadId, u32>,
}

impl Observed {
    /// Takes in a step; says which number stands for its thread from now on.
    fn observe(&mut self, event: &Event) -> Option<u64> {
        let kind = event.kind().filter(|kind| !kind.only_names());
        let mut number = None;
        if let Some(kind) = kind {
            let hasher = self.threads.entry(event.thread).or_default();
            (event.op, event.kind).hash(hasher);
            if let Some(touch) = AccessedBytes::of(event, kind) {
                (event.addr, touch.len).hash(hasher);
                let mut last = None;
                self.memory.visit(touch.addr, touch.len, |at, writer| {
                    // Pieces with the same writer are one, however others have cut the memory.
                    if last != Some(*writer) {
                        (at, *writer).hash(hasher);
                        last = Some(*writer);
                    }
                    if touch.writes {
                        *writer = Some((event.thread, event.op));
                    }
                });
            }
            for (object, writes) in objects(event, kind) {
                let life = self.lives.entry(object).or_default();
                life.began_or_ended.hash(hasher);
                if writes {
                    life.uses.hash(hasher);
                    life.began_or_ended = Some((event.thread, event.op));
                } else {
                    *life.uses.entry(event.thread).or_default() += 1;
                }
            }
            number = Some(hasher.finish());
        }
        if let Some((first, last)) = renewed(event) {
            self.memory.forget(first, last);
        }
        number
    }
}

impl VariantGraph {
    /// The class of a variant of the execution with these events.
    pub fn key(&self, variant: &Variant, events: &[Event]) -> VariantKey {
        let mut observed = Observed::default();
        for index in self.events_of(variant) {
            observed.observe(&events[index]);
        }
        let threads =
            observed.threads.into_iter().map(|(thread, hasher)| (thread, hasher.finish())).collect();
        let then = Some(variant.kind).filter(|kind| !matches!(kind, VariantKind::Sees(_)));
        VariantKey { threads, then }
    }
}

/// What an execution has shown: all classes of which its own steps are a continuation.
#[derive(Clone, Debug, Default)]
pub struct ShownClasses {
    /// How many steps the thread had made, by its thread and what it had done and seen.
    steps: HashMap<(ThreadId, u64), u32>,
    /// How many steps each thread made.
    made: BTreeMap<ThreadId, u32>,
}

impl ShownClasses {
    /// What an execution shows.
    pub fn of(events: &[Event]) -> ShownClasses {
        let mut observed = Observed::default();
        let mut shown = ShownClasses::default();
        for event in events {
            if let Some(number) = observed.observe(event) {
                let made = shown.made.entry(event.thread).or_default();
                *made += 1;
                shown.steps.insert((event.thread, number), *made);
            }
        }
        shown
    }

    /// Whether it shows what a variant of this class would.
    pub fn shows(&self, key: &VariantKey) -> bool {
        let mut made: BTreeMap<ThreadId, u32> = BTreeMap::new();
        for it in &key.threads {
            let Some(count) = self.steps.get(it) else { return false };
            made.insert(it.0, *count);
        }
        match key.then {
            None | Some(VariantKind::Sees(_)) => true,
            Some(VariantKind::GoesOn(thread)) => {
                let known = made.get(&thread).copied().unwrap_or(0);
                self.made.get(&thread).is_some_and(|all| *all > known)
            }
            Some(VariantKind::Stuck) => made == self.made,
        }
    }
}
