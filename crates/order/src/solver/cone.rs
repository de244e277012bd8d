//! The steps that led to a goal when it was recorded: a good guess at those that will be needed.

use std::collections::HashMap;

use threadbare_trace::ThreadId;

use crate::goal::Target;
use crate::model::{Act, Ix, Model};

/// The last step of each thread that came before the goal's steps and had to, as it was recorded. It is a guess
/// where several might have served.
pub fn recorded(model: &Model, target: &Target) -> Vec<Ix> {
    let mut cone = Cone { model, last: HashMap::new() };
    target.steps.iter().for_each(|step| cone.need(*step));
    let from = target.steps.iter().copied().max().unwrap_or(0);
    for at in (0..=from).rev() {
        if cone.last.get(&model.step(at).thread).is_some_and(|last| *last >= at) {
            cone.look_behind(at);
        }
    }
    let mut last: Vec<Ix> = cone.last.into_values().collect();
    last.sort_unstable();
    last
}

struct Cone<'a> {
    model: &'a Model,
    last: HashMap<ThreadId, Ix>,
}

impl Cone<'_> {
    fn need(&mut self, at: Ix) {
        let last = self.last.entry(self.model.step(at).thread).or_insert(at);
        *last = at.max(*last);
    }

    /// Needs whatever the step needed.
    fn look_behind(&mut self, at: Ix) {
        let model = self.model;
        model.touches_of(at).iter().filter_map(|touch| touch.source).for_each(|source| self.need(source));
        if model.step(at).parent.is_none()
            && let Some(creators) = model.creators.get(&model.step(at).thread)
        {
            creators.iter().for_each(|creator| self.need(*creator));
        }
        let before = |steps: &[Ix]| steps.iter().copied().filter(|step| *step < at).max();
        for act in model.acts_of(at) {
            let needed = match act {
                Act::Wake(condition, _) => {
                    let signals = &model.conditions[*condition as usize].signals;
                    signals.iter().map(|(signal, _)| *signal).filter(|signal| *signal < at).max()
                }
                Act::Take(semaphore) => before(&model.semaphores[*semaphore as usize].posts),
                Act::Leave(round) => model.rounds[*round as usize].last,
                Act::Join(thread) => model.exits.get(thread).and_then(|exits| before(exits)),
                Act::Keep(chain, place) => {
                    place.checked_sub(1).map(|place| model.chains[*chain as usize].steps[place as usize])
                }
                Act::Arrive(round, true) => before(&model.rounds[*round as usize].arrivals),
                Act::Arrive(_, false) | Act::Acquire(_) | Act::Release(_) | Act::Refused { .. } => None,
                Act::Wait(_) | Act::Signal(..) | Act::Post(_) => None,
                Act::Exit | Act::Unended(_) | Act::Watershed(_) => None,
            };
            needed.into_iter().for_each(|step| self.need(step));
        }
    }
}
