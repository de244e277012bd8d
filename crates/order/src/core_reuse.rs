//! Cores that hold in other models of the same program too.
//!
//! A core was found among the steps of one model: whatever order of these steps one takes, it breaks one of the
//! constraints. Steps have names that hold in all executions, so another model may have the same steps, and bind
//! them as strongly or more strongly. If it has a constraint at least as strong for each one in the core, then the goal is
//! impossible there too: leave the steps that the first model does not have out of any order that would
//! reach it, and what remains would satisfy the core.
//!
//! That argument needs constraints that say all they demand by their names. Those that depend on how things were recorded
//! (chains, rounds, lifetimes, watersheds) do not, and cores with such constraints are not carried over.

use crate::action::MemoryRange;
use crate::constraint::{Constraint, Core, Demand};
use crate::forest::{Forest, StepId};
use crate::goal::Goal;
use crate::model::{Act, Ix, Model, Section, Touch};
use crate::solver::sources;

/// Whether a core says all that it demands by the names of its steps.
pub fn can_be_carried(core: &Core, forest: &Forest) -> bool {
    core.iter().all(|constraint| match constraint.demand {
        Demand::Happens | Demand::Before | Demand::Created | Demand::Exclusion | Demand::Joined => true,
        Demand::Reads(_) | Demand::Woken | Demand::Token | Demand::Final => true,
        // Which memory is meant is clear only if the steps access nothing else.
        Demand::Unbroken => {
            let memory: Vec<Option<MemoryRange>> =
                constraint.steps.iter().map(|id| only_memory(forest, *id)).collect();
            memory.iter().all(|extent| extent.is_some() && *extent == memory[0])
        }
        Demand::Sees(..) | Demand::Stuck | Demand::Refused | Demand::Round | Demand::Unended => false,
        Demand::Kept(_) | Demand::Lifetime | Demand::Watershed => false,
    })
}

/// The memory that a step accesses, if that is one stretch.
fn only_memory(forest: &Forest, id: StepId) -> Option<MemoryRange> {
    let actions = forest.step(id).actions.iter();
    let mut extents = actions.filter_map(|action| action.read().or(action.write())).map(|(extent, _)| extent);
    let first = extents.next()?;
    extents.all(|other| other == first).then_some(first)
}

impl Model {
    /// Whether a core that was found in another model of the same forest forbids this goal here. Only for cores
    /// that [`can_be_carried`].
    pub fn is_refuted_by(&self, goal: &Goal, core: &Core) -> bool {
        let Some(demands) = goal.constraints(self) else { return false };
        core.iter().all(|constraint| {
            if constraint.demand == Demand::Final {
                self.lacks_final(constraint.steps[0], goal)
            } else if constraint.is_of_goal() {
                demands.iter().any(|demand| demand.implies(constraint))
            } else {
                self.binding(constraint).is_some_and(|own| own.implies(constraint))
            }
        })
    }

    /// Whether no order that reaches the goal has this step, after which nobody makes another.
    fn lacks_final(&self, end: StepId, goal: &Goal) -> bool {
        match self.place(end) {
            None => true,
            Some(place) => self.finals.contains(&place) && !goal.steps().contains(&end),
        }
    }

    /// The constraint that this model has in the place of one of another model.
    fn binding(&self, other: &Constraint) -> Option<Constraint> {
        let at = self.place(*other.steps.first()?)?;
        let id = |at: Ix| self.step(at).id;
        let named = |steps: &[Ix]| steps.iter().map(|at| Some(id(*at))).collect::<Vec<_>>();
        let options: Vec<Option<StepId>> = match other.demand {
            Demand::Created => {
                self.step(at).parent.is_none().then_some(())?;
                named(self.creators.get(&self.step(at).thread)?)
            }
            Demand::Reads(extent) => {
                let segment = self.segments.iter().position(|own| *own == extent)? as u32;
                let reads = |touch: &Touch| (touch.segment == segment).then_some(touch.reads).flatten();
                let value = self.touches_of(at).iter().find_map(reads)?;
                sources(at, segment, value, self).into_iter().map(|source| source.map(id)).collect()
            }
            Demand::Exclusion => {
                let second = self.place(*other.steps.get(1)?)?;
                named(&self.ends_of_two_sections(at, second)?)
            }
            Demand::Joined => self.acts_of(at).iter().find_map(|act| match act {
                Act::Join(thread) => self.exits.get(thread).map(|exits| named(exits)),
                _ => None,
            })?,
            Demand::Woken => self.acts_of(at).iter().find_map(|act| match act {
                Act::Wake(condition, _) => {
                    let signals = &self.conditions[*condition as usize].signals;
                    Some(signals.iter().map(|(signal, _)| Some(id(*signal))).collect())
                }
                _ => None,
            })?,
            Demand::Token => self.acts_of(at).iter().find_map(|act| match act {
                Act::Take(number) => {
                    let semaphore = &self.semaphores[*number as usize];
                    let first = (semaphore.tokens > 0).then_some(None);
                    Some(first.into_iter().chain(named(&semaphore.posts)).collect())
                }
                _ => None,
            })?,
            Demand::Happens | Demand::Before | Demand::Unbroken | Demand::Sees(..) | Demand::Stuck => {
                return None;
            }
            Demand::Refused | Demand::Round | Demand::Unended | Demand::Kept(_) => return None,
            Demand::Lifetime | Demand::Watershed | Demand::Final => return None,
        };
        Some(Constraint::new(other.demand, other.steps.iter().copied()).with(options))
    }

    /// Where two critical sections end that begin with these steps and must not overlap.
    fn ends_of_two_sections(&self, first: Ix, second: Ix) -> Option<Vec<Ix>> {
        let of = |begin: Ix| self.sections.iter().filter(move |section| section.acquire == begin);
        let excludes =
            |a: &Section, b: &Section| a.lock == b.lock && a.thread != b.thread && !(a.shared && b.shared);
        of(first).find_map(|a| {
            let b = of(second).find(|b| excludes(a, b))?;
            Some(a.releases.iter().chain(&b.releases).copied().collect())
        })
    }
}
