//! What an order is wanted for.

use crate::action::MemoryRange;
use crate::constraint::{Constraint, Demand};
use crate::forest::StepId;
use crate::model::{Ix, Model, Value};

/// Something that shall happen. What comes after it does not matter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Goal {
    steps: Vec<StepId>,
    unbroken: bool,
    sees: Option<(MemoryRange, u64)>,
    deadlock: Option<Vec<Vec<StepId>>>,
}

impl Goal {
    /// The read in this step sees this value in this memory. The thread gets to the step as it was recorded.
    pub fn sees(read: StepId, extent: MemoryRange, value: u64) -> Goal {
        Goal { steps: vec![read], unbroken: false, sees: Some((extent, value)), deadlock: None }
    }

    /// These steps are made in this order; others may come in between.
    pub fn in_order(steps: &[StepId]) -> Goal {
        Goal { steps: steps.to_vec(), unbroken: false, sees: None, deadlock: None }
    }

    /// These accesses are made in this order, and between two neighbours on the same memory nobody writes it.
    pub fn pattern(accesses: &[StepId]) -> Goal {
        Goal { steps: accesses.to_vec(), unbroken: true, sees: None, deadlock: None }
    }

    /// No thread is enabled, and not all have ended. The deadlocks after these steps (each list holds the last ones of all
    /// threads that have made one) are known already and left out.
    pub fn deadlock(known: Vec<Vec<StepId>>) -> Goal {
        Goal { steps: Vec::new(), unbroken: false, sees: None, deadlock: Some(known) }
    }

    /// The steps in order.
    pub fn steps(&self) -> &[StepId] {
        &self.steps
    }

    /// What the goal demands of the steps of a model, by name; none if the model does not have the steps, or the goal
    /// is not only about the order of steps.
    pub(crate) fn constraints(&self, model: &Model) -> Option<Vec<Constraint>> {
        if self.sees.is_some() || self.deadlock.is_some() {
            return None;
        }
        let target = self.in_model(model)?;
        let happens = self.steps.iter().map(|id| Constraint::new(Demand::Happens, [*id]));
        let before = self.steps.windows(2).map(|two| Constraint::new(Demand::Before, [two[0], two[1]]));
        let id = |at: Ix| model.step(at).id;
        let pairs = target.pairs.iter();
        let unbroken = pairs.map(|pair| Constraint::new(Demand::Unbroken, [id(pair.first), id(pair.second)]));
        Some(happens.chain(before).chain(unbroken).collect())
    }

    /// The goal in a model; none if the model does not have the steps or the memory.
    pub(crate) fn in_model(&self, model: &Model) -> Option<Target> {
        let steps: Vec<Ix> = self.steps.iter().map(|id| model.place(*id)).collect::<Option<_>>()?;
        let read = match self.sees {
            None => None,
            Some((extent, value)) => {
                let at = *steps.first()?;
                let reads = |touch: &&crate::model::Touch| {
                    touch.reads.is_some() && model.segments.get(touch.segment as usize) == Some(&extent)
                };
                let touch = model.touches_of(at).iter().find(reads)?;
                Some((at, touch.segment, Value::Known(value)))
            }
        };
        let pairs = if self.unbroken { pairs(model, &steps) } else { Vec::new() };
        let known = self.deadlock.iter().flatten();
        // A place with steps that the model does not have does not occur in it.
        let known = known.filter_map(|known| known.iter().map(|id| model.place(*id)).collect());
        let deadlock = self.deadlock.as_ref().map(|_| known.collect());
        Some(Target { steps, pairs, read, deadlock })
    }
}

/// The neighbours on the same memory.
fn pairs(model: &Model, steps: &[Ix]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (place, &first) in steps.iter().enumerate() {
        let mut open: Vec<u32> = model.touches_of(first).iter().map(|touch| touch.segment).collect();
        for &second in &steps[place + 1..] {
            let touched = |segment: &u32| model.touches_of(second).iter().any(|t| t.segment == *segment);
            let (common, rest): (Vec<u32>, Vec<u32>) = open.iter().partition(|segment| touched(segment));
            if !common.is_empty() {
                pairs.push(Pair { first, second, segments: common });
            }
            open = rest;
        }
    }
    pairs
}

/// Two steps between which some memory must not be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) first: Ix,
    pub(crate) second: Ix,
    pub(crate) segments: Vec<u32>,
}

/// A goal in a model.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) steps: Vec<Ix>,
    pub(crate) pairs: Vec<Pair>,
    /// The step that reads, the segment, and what it shall see.
    pub(crate) read: Option<(Ix, u32, Value)>,
    /// No thread is enabled, except where this is known already.
    pub(crate) deadlock: Option<Vec<Vec<Ix>>>,
}

impl Target {
    /// What this step shall see, and where, if it is the one.
    pub(crate) fn read_at(&self, at: Ix) -> Option<(u32, Value)> {
        self.read.filter(|(read, ..)| *read == at).map(|(_, segment, value)| (segment, value))
    }

    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch { target: self, next: 0, open: vec![false; self.pairs.len()] }
    }
}

/// Looks whether the goal is reached while steps are made.
pub(crate) struct Watch<'a> {
    target: &'a Target,
    next: usize,
    /// By pair: the first step was made, the second was not.
    open: Vec<bool>,
}

impl Watch<'_> {
    /// The pairs between which this step writes.
    pub(crate) fn broken_by(&mut self, at: Ix, model: &Model) -> Vec<usize> {
        let mut broken = Vec::new();
        for (number, pair) in self.target.pairs.iter().enumerate() {
            if pair.second == at {
                self.open[number] = false;
            } else if self.open[number] && pair.segments.iter().any(|s| model.writes(at, *s).is_some()) {
                broken.push(number);
            }
            if pair.first == at {
                self.open[number] = true;
            }
        }
        broken
    }

    /// Whether the goal is reached with this step.
    pub(crate) fn reached(&mut self, at: Ix) -> bool {
        if self.target.steps.get(self.next) == Some(&at) {
            self.next += 1;
        }
        self.next == self.target.steps.len() && self.target.deadlock.is_none()
    }
}
