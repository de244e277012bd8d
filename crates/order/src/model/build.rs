//! Putting a model together.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::lifetimes;
use super::memory::{Account, Segments};
use super::sync::Syncing;
use super::{Act, Ix, Model, ModelStep, Touch, Value};
use crate::action::{Action, Kept, MemoryRange};
use crate::doubt::Doubt;
use crate::forest::{Forest, ForestStep, Path, StepId};

pub(super) struct Builder<'a> {
    forest: &'a Forest,
    ids: &'a [StepId],
    model: Model,
}

impl<'a> Builder<'a> {
    pub(super) fn new(forest: &'a Forest, ids: &'a [StepId]) -> Builder<'a> {
        let mut builder = Builder { forest, ids, model: Model::default() };
        builder.link();
        builder
    }

    fn step(&self, at: usize) -> &'a ForestStep {
        self.forest.step(self.ids[at])
    }

    fn actions(&self) -> impl Iterator<Item = &'a Action> {
        self.ids.iter().flat_map(|id| self.forest.step(*id).actions.iter())
    }

    /// Who follows whom, who is created and who ends.
    fn link(&mut self) {
        for at in 0..self.ids.len() {
            let ForestStep { thread, parent, ref actions, is_final, .. } = *self.step(at);
            self.model.finals.extend(is_final.then_some(at as Ix));
            let parent = parent.and_then(|parent| self.model.places.get(&parent).copied());
            let depth = parent.map_or(0, |parent| self.model.step(parent).depth + 1);
            self.model.places.insert(self.ids[at], at as Ix);
            self.model.threads.entry(thread).or_default().push(at as Ix);
            match parent {
                Some(parent) => {
                    let siblings = &mut self.model.steps[parent as usize].children;
                    siblings.push(at as Ix);
                    self.model.branches |= siblings.len() > 1;
                }
                None => self.model.branches |= self.model.threads[&thread].len() > 1,
            }
            for action in actions {
                if let Action::Create(child) = action {
                    self.model.creators.entry(*child).or_default().push(at as Ix);
                }
                if *action == Action::Exit {
                    self.model.exits.entry(thread).or_default().push(at as Ix);
                }
            }
            self.model.steps.push(ModelStep {
                id: self.ids[at],
                thread,
                parent,
                children: Vec::new(),
                depth,
                touches: 0..0,
                acts: 0..0,
            });
        }
    }

    /// The memory that is accessed, in pieces that are accessed as a whole.
    fn segments(&self) -> Segments {
        let accesses = self.actions().filter(|action| !matches!(action, Action::Free(_)));
        Segments::of(accesses.filter_map(|action| action.read().or(action.write())).map(|(e, _)| e).collect())
    }

    /// Numbers for the synchronization objects that are initialised or destroyed, behind those of memory.
    fn objects_with_lifetimes(&self, first: usize) -> HashMap<u64, u32> {
        let objects: BTreeSet<u64> = self.actions().filter_map(Action::object).collect();
        let mut mortal: BTreeSet<u64> = BTreeSet::new();
        for action in self.actions() {
            if let Action::Renew { object, .. } = action {
                mortal.insert(*object);
            }
            if let Action::Free(extent) = action {
                mortal.extend(objects.range(extent.addr..extent.end()));
            }
        }
        mortal.into_iter().enumerate().map(|(number, object)| (object, (first + number) as u32)).collect()
    }

    /// The model of one execution.
    pub(super) fn one(mut self, path: &Path) -> Model {
        let segments = self.segments();
        if segments.overlap {
            self.model.doubts.insert(Doubt::Overlap);
        }
        self.model.set_initial(&segments, &path.initial);
        let objects = self.objects_with_lifetimes(segments.list.len());
        self.model.initial.resize(segments.list.len() + objects.len(), Value::UNKNOWN);
        let mut account = Account::new(&segments, objects, &self.model.initial);
        for at in 0..self.ids.len() {
            let begin = self.model.touches.len() as u32;
            let has_room = account.enter(at as Ix, &self.step(at).actions, &mut self.model.touches);
            self.model.steps[at].touches = begin..self.model.touches.len() as u32;
            if !has_room {
                self.model.too_large = true;
                return self.model;
            }
        }
        account.settle(&mut self.model.touches, &mut self.model.initial);
        let hidden: BTreeSet<u32> = account.changed_by_themselves.iter().copied().collect();
        self.model.segments = segments.list;
        self.model.index_memory();
        if !hidden.is_empty() {
            self.model.doubts.insert(Doubt::HiddenWrite);
        }
        self.resolve(&path.tokens, &hidden);
        self.model
    }

    /// The model of all executions.
    pub(super) fn all(mut self) -> Result<Model, BTreeSet<Doubt>> {
        let segments = self.segments();
        let mut doubts = self.forest.doubts().clone();
        if segments.overlap {
            doubts.insert(Doubt::Overlap);
        }
        let unsteady = &self.forest.unsteady;
        if self.actions().filter_map(Action::read).any(|(extent, _)| unsteady.contains(&extent)) {
            doubts.insert(Doubt::Start);
        }
        if self.sees_what_nobody_left() {
            doubts.insert(Doubt::HiddenWrite);
        }
        let asked = self.forest.lifetimes_are_asked;
        let is_life = |action: &Action| action.lifetime_change().is_some();
        let unclear = self.actions().filter(|action| !(asked && is_life(action)));
        doubts.extend(unclear.filter_map(unclear_together));
        if asked && lifetimes::are_unclear(self.forest) {
            doubts.insert(Doubt::Lifetime);
        }
        let creators: HashSet<_> = self.model.creators.values().flatten().copied().collect();
        let creators: HashSet<_> = creators.into_iter().map(|at| self.model.step(at).thread).collect();
        if creators.len() > 1 {
            doubts.insert(Doubt::Creation);
        }
        if !doubts.is_empty() {
            return Err(doubts);
        }
        self.model.set_initial(&segments, &self.forest.initial);
        for at in 0..self.ids.len() {
            let begin = self.model.touches.len() as u32;
            for action in self.step(at).actions.iter().filter(|action| !is_life(action)) {
                let Some((extent, _)) = action.read().or(action.write()) else { continue };
                let known = |(_, value): (MemoryRange, Option<u64>)| value.map(Value::Known);
                self.model.touches.push(Touch {
                    segment: segments.covering(extent).start as u32,
                    reads: action.read().and_then(known),
                    source: None,
                    writes: action.write().and_then(known),
                    epoch: 0,
                    renews: false,
                });
            }
            self.model.steps[at].touches = begin..self.model.touches.len() as u32;
        }
        self.model.segments = segments.list;
        self.model.index_memory();
        self.resolve(&self.forest.tokens, &BTreeSet::new());
        Ok(self.model)
    }

    /// Whether some step saw a value that nobody is known to have left there: then no order of the known steps shows it again, nor
    /// what comes after it.
    fn sees_what_nobody_left(&self) -> bool {
        let left: HashSet<(MemoryRange, u64)> =
            self.actions().filter_map(Action::write).filter_map(|(it, value)| Some((it, value?))).collect();
        let has_source = |it: MemoryRange, value: u64| {
            self.forest.initial(it) == Some(value) || left.contains(&(it, value))
        };
        let seen = self.actions().filter_map(Action::read).filter_map(|(it, value)| Some((it, value?)));
        { seen }.any(|(it, value)| !has_source(it, value))
    }

    fn resolve(&mut self, tokens: &HashMap<u64, u64>, hidden: &BTreeSet<u32>) {
        let mut syncing = Syncing::new(self.actions(), &self.model, tokens);
        for at in 0..self.ids.len() {
            let begin = self.model.acts.len() as u32;
            syncing.enter(at as Ix, &self.step(at).actions, &mut self.model);
            let kept: Vec<u32> = self.model.touches_of(at as Ix).iter().map(|touch| touch.segment).collect();
            for segment in kept.into_iter().filter(|segment| hidden.contains(segment)) {
                let addr = self.model.segments[segment as usize].addr;
                syncing.keep(at as Ix, Kept::Memory(addr), &mut self.model);
            }
            self.model.steps[at].acts = begin..self.model.acts.len() as u32;
        }
        syncing.finish(&mut self.model);
    }
}

/// Why executions cannot be taken together, if an action is the reason.
fn unclear_together(action: &Action) -> Option<Doubt> {
    use Action::*;
    let unknown = |value: Option<u64>, doubt| value.is_none().then_some(doubt);
    match *action {
        Read(_, value) | Write(_, value) => unknown(value, Doubt::Overlap),
        Update(_, old, _) => unknown(old, Doubt::Overlap),
        Free(_) | Renew { .. } => Some(Doubt::Lifetime),
        // What was tried and done might have been refused.
        Refused(_) | Empty(_) | Unended(_) | Acquire { tries: true, .. } => Some(Doubt::Refusal),
        Timeout { .. } => Some(Doubt::Time),
        Arrive(_) | Leave(..) => Some(Doubt::Rounds),
        Keep(Kept::Futex(_), _) => Some(Doubt::Futex),
        Keep(Kept::Lock(_), _) => Some(Doubt::Refusal),
        Keep(..) | Watershed(..) | Idle(threadbare_trace::EventKind::Signal) => Some(Doubt::Outside),
        Idle(threadbare_trace::EventKind::Sleep) => Some(Doubt::Time),
        Idle(threadbare_trace::EventKind::FutexWait) => Some(Doubt::Futex),
        // `Action::of` makes nothing else of the kinds that only their own thread notices.
        Idle(_) => None,
        Touch(..) | Acquire { .. } | Release(_) | Wait { .. } | Wake { .. } | Signal { .. } => None,
        Take(_) | Post(_) | Create(_) | Start(_) | Exit | Join(_) => None,
    }
}

impl Act {
    /// The reason for doubt that a resolved act is, if it is one.
    pub(super) fn doubt(self) -> Option<Doubt> {
        match self {
            Act::Refused { .. } | Act::Unended(_) => Some(Doubt::Refusal),
            Act::Arrive(..) | Act::Leave(_) => Some(Doubt::Rounds),
            Act::Watershed(_) => Some(Doubt::Outside),
            Act::Acquire(_) | Act::Release(_) | Act::Wait(_) | Act::Wake(..) | Act::Signal(..) => None,
            Act::Take(_) | Act::Post(_) | Act::Exit | Act::Join(_) | Act::Keep(..) => None,
        }
    }
}
