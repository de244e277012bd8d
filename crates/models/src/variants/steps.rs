//! A trace as steps of threads that can be put in another order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadbare_trace::{Event, EventKind, ThreadId};

use super::super::variables::{VariableId, Variables};
use super::fixed_order::keep_order;
use super::step_effects::{Kept, StepEffect, effect_of, kept_besides, objects};
use super::{Ending, Scope};

/// What a thread does between two moments at which others may come.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// Its events, and before them those of steps that no other thread can notice.
    pub(super) events: Vec<usize>,
    pub(super) effects: Vec<StepEffect>,
    /// What has to come before: so many steps of these threads.
    pub(super) needs: Vec<(usize, u32)>,
    /// The process ends with it.
    pub(super) is_final: bool,
}

impl Step {
    pub(super) fn need(&mut self, thread: usize, count: u32) {
        match self.needs.iter_mut().find(|(of, _)| *of == thread) {
            Some((_, known)) => *known = (*known).max(count),
            None => self.needs.push((thread, count)),
        }
    }
}

/// The steps of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub(super) steps: Vec<Step>,
    /// It is not known what the thread would have done next.
    pub(super) is_open: bool,
    /// What has to come before it can begin.
    pub(super) begins_after: Option<(usize, u32)>,
    /// Events after the last step that no other thread can notice.
    pub(super) rest: Vec<usize>,
}

/// A trace as steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub(super) threads: Vec<ThreadId>,
    pub(super) lanes: Vec<Lane>,
    /// All steps in the order in which they were made, as thread and place.
    pub(super) recorded: Vec<(usize, u32)>,
    /// How many shared variables, locks and condition variables there are.
    pub(super) variables: usize,
    pub(super) locks: usize,
    pub(super) conditions: Vec<u64>,
    /// How many tokens semaphores had at first.
    pub(super) tokens: HashMap<u64, u64>,
    /// The events with which threads end.
    pub(super) ends: BTreeSet<usize>,
    /// Something that several threads do is kept in its order.
    pub(super) keeps_order: bool,
}

/// The variables whose order of accesses can make a difference: more than one thread touches them, and one writes.
fn shared(events: &[Event], variables: &Variables) -> HashMap<VariableId, usize> {
    let mut known: BTreeMap<VariableId, (BTreeSet<ThreadId>, bool)> = BTreeMap::new();
    for (event, touched) in events.iter().zip(&variables.touched) {
        let Some((touch, pieces)) = touched else { continue };
        for piece in pieces {
            let (threads, is_written) = known.entry(*piece).or_default();
            threads.insert(event.thread);
            *is_written |= touch.writes;
        }
    }
    let matter = known.into_iter().filter(|(_, (threads, is_written))| threads.len() > 1 && *is_written);
    matter.enumerate().map(|(number, (variable, _))| (variable, number)).collect()
}

/// The variables that stand for a synchronization object whose life begins or ends, and that more than one thread uses.
#[derive(Clone, Copy)]
struct Mortal {
    /// Whoever uses the object reads it, and what begins or ends its life is a write.
    life: usize,
    /// Whoever uses the object counts it up, and what begins or ends its life is a read: it fails while somebody has the object.
    uses: usize,
}

/// The objects that are mortal; their variables are numbered from here on.
fn mortal(events: &[Event], first: usize) -> HashMap<u64, Mortal> {
    let mut known: BTreeMap<u64, (BTreeSet<ThreadId>, bool)> = BTreeMap::new();
    for event in events {
        for (object, is_life) in event.kind().into_iter().flat_map(|kind| objects(event, kind)) {
            let (threads, is_mortal) = known.entry(object).or_default();
            threads.insert(event.thread);
            *is_mortal |= is_life;
        }
    }
    let matter = known.into_iter().filter(|(_, (threads, is_mortal))| threads.len() > 1 && *is_mortal);
    let variables = |number: usize| Mortal { life: first + 2 * number, uses: first + 2 * number + 1 };
    matter.enumerate().map(|(number, (object, _))| (object, variables(number))).collect()
}

/// Whether some thread gives back memory with a synchronization object in it that another one uses: which of them comes first is not varied.
fn frees_objects(events: &[Event]) -> bool {
    let of_kind = |event: &&Event| event.kind() == Some(EventKind::Free);
    let blocks: Vec<(ThreadId, std::ops::Range<u64>)> = events
        .iter()
        .filter(of_kind)
        .map(|event| (event.thread, event.addr..event.addr.saturating_add(event.value)))
        .collect();
    events.iter().any(|event| {
        let mut used = event.kind().into_iter().flat_map(|kind| objects(event, kind));
        used.any(|(object, _)| {
            blocks.iter().any(|(thread, block)| *thread != event.thread && block.contains(&object))
        })
    })
}

/// Whether it is not known what some thread would have done next, so that it may notice what no other thread has noticed.
fn somebody_may_go_on(events: &[Event], ending: &Ending) -> bool {
    let is_end = |event: &&Event| event.kind() == Some(EventKind::Exit);
    let mut done: BTreeSet<ThreadId> = events.iter().filter(is_end).map(|event| event.thread).collect();
    done.extend(ending.brought_down_by.into_iter().chain(ending.ended_by));
    done.len() < usize::from(ending.threads)
}

/// A thread that is refused a lock which it holds itself learns nothing of others.
fn refuse_by_itself(effect: &mut StepEffect, lane: usize, held: &mut HashMap<(usize, u64), u32>) {
    match *effect {
        StepEffect::Lock { lock, .. } | StepEffect::Wake { mutex: lock, .. } => {
            *held.entry((lane, lock)).or_default() += 1;
        }
        StepEffect::Unlock { lock } | StepEffect::Wait { mutex: lock, .. } => {
            let depth = held.entry((lane, lock)).or_default();
            *depth = depth.saturating_sub(1);
        }
        StepEffect::Refused { lock } if held.get(&(lane, lock)).is_some_and(|depth| *depth > 0) => {
            *effect = StepEffect::Marks;
        }
        // These take and release no locks.
        StepEffect::Refused { .. } | StepEffect::Access { .. } | StepEffect::Counts { .. } => {}
        StepEffect::Notify { .. } => {}
        StepEffect::Take { .. } | StepEffect::Post { .. } | StepEffect::Empty { .. } => {}
        StepEffect::Arrive { .. } | StepEffect::Leave { .. } | StepEffect::Join { .. } => {}
        StepEffect::Keep(_) | StepEffect::Marks => {}
    }
}

impl Steps {
    pub(super) fn of(events: &[Event], ending: &Ending, scope: Scope) -> Steps {
        let variables = Variables::of(events);
        let shared = shared(events, &variables);
        let mortal = mortal(events, shared.len());
        let mut steps = Steps { variables: shared.len() + 2 * mortal.len(), ..Steps::default() };
        for number in 0..ending.threads {
            steps.lane(ThreadId(number));
        }
        let mut ended = BTreeSet::new();
        let mut latest: HashMap<usize, u32> = HashMap::new();
        let mut versions = vec![0u32; steps.variables];
        let mut held: HashMap<(usize, u64), u32> = HashMap::new();
        let may_surprise = somebody_may_go_on(events, ending);
        let brought_down_by = ending.brought_down_by.map(|thread| steps.lane(thread));
        for (index, event) in events.iter().enumerate() {
            let Some(kind) = event.kind().filter(|kind| !kind.only_names()) else { continue };
            let lane = steps.lane(event.thread);
            let mut effects: Vec<StepEffect> =
                effect_of(event, kind).into_iter().chain(kept_besides(event, kind)).collect();
            for effect in &mut effects {
                refuse_by_itself(effect, lane, &mut held);
            }
            for (object, writes) in objects(event, kind) {
                let Some(Mortal { life, uses }) = mortal.get(&object).copied() else { continue };
                effects.push(StepEffect::Access { variable: life, version: versions[life], writes });
                if writes {
                    effects.push(StepEffect::Access {
                        variable: uses,
                        version: versions[uses],
                        writes: false,
                    });
                    versions[life] += 1;
                } else {
                    effects.push(StepEffect::Counts { variable: uses });
                    versions[uses] += 1;
                }
            }
            if let Some((touch, pieces)) = &variables.touched[index] {
                for variable in pieces.iter().filter_map(|piece| shared.get(piece)) {
                    let version = versions[*variable];
                    effects.push(StepEffect::Access { variable: *variable, version, writes: touch.writes });
                    versions[*variable] += u32::from(touch.writes);
                }
            }
            steps.note_tokens(event);
            let goes_on = latest.insert(lane, event.op) == Some(event.op);
            let keeps_others_out = brought_down_by == Some(lane) || effects.iter().any(StepEffect::takes);
            if may_surprise && keeps_others_out && !goes_on {
                steps.set_apart(lane);
            }
            steps.add(lane, index, effects, goes_on);
            // All other kinds matter by their effects only.
            if kind == EventKind::Create {
                let child = steps.lane(ThreadId(event.value as u16));
                let made = steps.lanes[lane].steps.len() as u32;
                steps.lanes[child].begins_after = Some((lane, made));
            }
            if kind == EventKind::Exit {
                ended.insert(lane);
                steps.ends.insert(index);
            }
        }
        steps.close(events, ending, &ended);
        keep_order(&mut steps, scope);
        steps.keeps_order |= frees_objects(events);
        steps
    }

    /// The place of a thread.
    pub(super) fn lane(&mut self, thread: ThreadId) -> usize {
        if let Some(place) = self.threads.iter().position(|it| *it == thread) {
            return place;
        }
        self.threads.push(thread);
        self.lanes.push(Lane::default());
        self.lanes.len() - 1
    }

    /// Makes a step of what nobody has noticed so far: who comes after it may, and could not come after the next step, which takes
    /// something away or ends everything.
    fn set_apart(&mut self, lane: usize) {
        let own = &mut self.lanes[lane];
        if own.rest.is_empty() {
            return;
        }
        let events = std::mem::take(&mut own.rest);
        own.steps.push(Step { events, effects: vec![StepEffect::Marks], ..Step::default() });
        self.recorded.push((lane, own.steps.len() as u32 - 1));
    }

    fn add(&mut self, lane: usize, index: usize, effects: Vec<StepEffect>, goes_on: bool) {
        let own = &mut self.lanes[lane];
        let belongs = goes_on && own.rest.is_empty();
        if belongs && let Some(step) = own.steps.last_mut() {
            step.events.push(index);
            for mut effect in effects {
                // Versions are those from before the step.
                if let StepEffect::Access { variable, version, .. } = &mut effect {
                    let writes = |it: &&StepEffect| matches!(it, StepEffect::Access { variable: v, writes: true, .. } if v == variable);
                    *version -= step.effects.iter().filter(writes).count() as u32;
                }
                step.effects.push(effect);
            }
            return;
        }
        own.rest.push(index);
        if !effects.is_empty() {
            let events = std::mem::take(&mut own.rest);
            let place = own.steps.len() as u32;
            own.steps.push(Step { events, effects, ..Step::default() });
            self.recorded.push((lane, place));
        }
    }

    /// Whoever comes first to a semaphore shows what it was before.
    fn note_tokens(&mut self, event: &Event) {
        if let Some(before) = event.tokens_before() {
            self.tokens.entry(event.addr).or_insert(before);
        }
    }

    fn close(&mut self, events: &[Event], ending: &Ending, ended: &BTreeSet<usize>) {
        let mut locks = BTreeSet::new();
        let mut conditions = BTreeSet::new();
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            lane.is_open = !ended.contains(&place);
            for effect in lane.steps.iter().flat_map(|step| &step.effects) {
                locks.extend(effect.lock());
                conditions.extend(effect.condition());
            }
        }
        (self.locks, self.conditions) = (locks.len(), conditions.into_iter().collect());
        if let Some(place) = ending.ended_by.map(|thread| self.lane(thread)) {
            self.lanes[place].is_open = false;
        }
        let Some(place) = ending.brought_down_by.map(|thread| self.lane(thread)) else { return };
        // Its last step need not be one that others notice; that it was made ends everything all the same.
        let rest = &mut self.lanes[place].rest;
        let op = rest.last().map(|index| events[*index].op);
        let last = rest.split_off(rest.iter().take_while(|index| Some(events[**index].op) != op).count());
        self.set_apart(place);
        let lane = &mut self.lanes[place];
        lane.rest = last;
        self.set_apart(place);
        let lane = &mut self.lanes[place];
        lane.is_open = false;
        if let Some(last) = lane.steps.last_mut() {
            last.is_final = true;
        }
    }

    /// The end of a thread, as a number of its steps; none if it was not seen.
    pub(super) fn end_of(&self, thread: ThreadId) -> Option<(usize, u32)> {
        let place = self.threads.iter().position(|it| *it == thread)?;
        Some((place, self.lanes[place].steps.len() as u32))
    }

    /// The thing that a kept effect is about.
    pub(super) fn kept(step: &Step) -> impl Iterator<Item = Kept> + '_ {
        step.effects
            .iter()
            .filter_map(|effect| if let StepEffect::Keep(kept) = effect { Some(*kept) } else { None })
    }
}
