//! What binds steps besides reads: each rule is written down once the last order has broken it.

use std::collections::HashSet;

use batsat::Lit;

use super::literals::{Habit, Literals, Term};
use super::wake_ups::WakeUps;
use crate::constraint::{Constraint, Demand};
use crate::forest::StepId;
use crate::machine::Violation;
use crate::model::{Act, Ix, Model, Round};

/// A rule that has been written down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rule {
    Sections(u32, u32),
    Lifetime(Ix, Ix),
    Refused(Ix),
    Round(u32),
    Joined(Ix),
    Unended(Ix),
    Chain(u32),
    Watershed(Ix),
}

/// The rules so far.
#[derive(Default)]
pub struct Bindings {
    rules: HashSet<Rule>,
    /// Who wakes whom, and whose tokens are taken.
    pub wake_ups: WakeUps,
}

pub(super) fn name(model: &Model, at: Ix) -> StepId {
    model.step(at).id
}

pub(super) fn names(model: &Model, steps: &[Ix]) -> Vec<Option<StepId>> {
    steps.iter().map(|at| Some(name(model, *at))).collect()
}

impl Bindings {
    /// Writes down the rule that was broken, in an order of these steps. Says whether it is new.
    pub fn learn(
        &mut self,
        violation: Violation,
        order: &[Ix],
        model: &Model,
        literals: &mut Literals,
    ) -> bool {
        let rule = match violation {
            Violation::NotWoken { condition, step } => {
                return self.wake_ups.waits(condition, step, order, model, literals);
            }
            Violation::NoToken { semaphore, step } => {
                return self.wake_ups.tokens(semaphore, step, order, model, literals);
            }
            Violation::Locked { section, holder } => Rule::Sections(section.min(holder), section.max(holder)),
            Violation::Lifetime { step, renewal } => Rule::Lifetime(step, renewal),
            Violation::NotRefused(step) => Rule::Refused(step),
            Violation::Round(round) => Rule::Round(round),
            Violation::NotEnded(step) => Rule::Joined(step),
            Violation::Ended { step, .. } => Rule::Unended(step),
            Violation::Chain(chain) => Rule::Chain(chain),
            Violation::Watershed(step) => Rule::Watershed(step),
            Violation::Reads { .. } | Violation::Goal { .. } | Violation::Broken { .. } => return false,
        };
        if !self.rules.insert(rule) {
            return false;
        }
        match rule {
            Rule::Sections(first, second) => exclude(first, second, model, literals),
            Rule::Lifetime(step, renewal) => limit_lifetime(step, renewal, model, literals),
            Rule::Refused(step) => refuse(step, model, literals),
            Rule::Round(round) => meet(round, model, literals),
            Rule::Joined(step) => {
                let exits = acts(model, step, |act| match act {
                    Act::Join(thread) => model.exits.get(&thread).cloned(),
                    _ => None,
                });
                follow_one_of(Demand::Joined, step, &exits, model, literals);
            }
            Rule::Unended(step) => see_alive(step, model, literals),
            Rule::Chain(chain) => keep(chain, model, literals),
            Rule::Watershed(step) => {
                let before = acts(model, step, |act| match act {
                    Act::Watershed(number) => Some(model.watersheds[number as usize].clone()),
                    _ => None,
                });
                let constraint = Constraint::new(Demand::Watershed, [name(model, step)]);
                let switch = literals.name(constraint.with(names(model, &before)));
                literals.orders.mean(switch, before.iter().map(|before| (*before, step)));
                let made = literals.included(step, model);
                for before in before {
                    let before = literals.included(before, model);
                    literals.clause([!switch, !made, before]);
                }
            }
        }
        true
    }
}

/// The steps that the right act of a step names.
fn acts(model: &Model, step: Ix, choose: impl Fn(Act) -> Option<Vec<Ix>>) -> Vec<Ix> {
    model.acts_of(step).iter().find_map(|act| choose(*act)).unwrap_or_default()
}

fn follow_one_of(demand: Demand, step: Ix, options: &[Ix], model: &Model, literals: &mut Literals) {
    let constraint = Constraint::new(demand, [name(model, step)]).with(names(model, options));
    let switch = literals.name(constraint);
    literals.orders.mean(switch, options.iter().map(|option| (*option, step)));
    let made = literals.included(step, model);
    let options: Vec<Lit> = options.iter().map(|option| literals.effective(*option, model)).collect();
    literals.clause([!switch, !made].into_iter().chain(options));
}

/// One of two critical sections ends before the other begins.
fn exclude(first: u32, second: u32, model: &Model, literals: &mut Literals) {
    let sections = [&model.sections[first as usize], &model.sections[second as usize]];
    let begins = sections.map(|section| section.acquire);
    let ends: Vec<Ix> = sections.iter().flat_map(|section| section.releases.iter().copied()).collect();
    let constraint = Constraint::new(Demand::Exclusion, begins.map(|begin| name(model, begin)));
    let switch = literals.name(constraint.with(names(model, &ends)));
    let made = begins.map(|begin| literals.included(begin, model));
    // As recorded unless that is denied.
    let ways = [literals.fresh(Habit::Follows), literals.fresh(Habit::No)];
    literals.clause([!switch, !made[0], !made[1], ways[0], ways[1]]);
    for (place, section) in sections.iter().enumerate() {
        let (way, other) = (ways[place], begins[1 - place]);
        literals.orders.mean(way, section.releases.iter().map(|release| (*release, other)));
        let ended: Vec<Lit> = section.releases.iter().map(|end| literals.effective(*end, model)).collect();
        literals.clause([!way, !made[0], !made[1]].into_iter().chain(ended));
    }
}

/// A thing is used after it was initialised and before it is freed.
fn limit_lifetime(step: Ix, renewal: Ix, model: &Model, literals: &mut Literals) {
    let switch = literals.name(Constraint::new(Demand::Lifetime, [name(model, step), name(model, renewal)]));
    let (used, renewed) = (literals.included(step, model), literals.included(renewal, model));
    if renewal < step {
        literals.orders.mean(switch, [(renewal, step)]);
        literals.clause([!switch, !used, renewed]);
        return;
    }
    // The last access of a thread may come too late: that is a failure, and nothing comes after it.
    let only_accesses = model
        .touches_of(step)
        .iter()
        .all(|touch| !touch.renews && (touch.reads.is_some() || touch.writes.is_some()));
    let used = if only_accesses { literals.as_recorded(step, model) } else { used };
    let before = literals.before(step, renewal, model);
    literals.clause_with([!switch, !used, !renewed], &[before]);
}

/// Somebody else is in a critical section when the lock is refused.
fn refuse(step: Ix, model: &Model, literals: &mut Literals) {
    let thread = model.step(step).thread;
    let refused = model.acts_of(step).iter().find_map(|act| match act {
        Act::Refused { lock, by_readers } => Some((*lock, *by_readers)),
        _ => None,
    });
    let Some((lock, by_readers)) = refused else { return };
    let sections: Vec<u32> = (model.sections_of[lock as usize].iter().copied())
        .filter(|section| {
            let section = &model.sections[*section as usize];
            section.thread != thread && (by_readers || !section.shared)
        })
        .collect();
    let begins: Vec<Ix> = sections.iter().map(|section| model.sections[*section as usize].acquire).collect();
    let constraint = Constraint::new(Demand::Refused, [name(model, step)]);
    let switch = literals.name(constraint.with(names(model, &begins)));
    let made = literals.included(step, model);
    let mut ways = vec![!switch, !made];
    for section in sections {
        let section = &model.sections[section as usize];
        let lit = literals.fresh(Habit::No);
        literals.orders.mean(lit, [(section.acquire, step)]);
        let inside = literals.included(section.acquire, model);
        literals.clause([!lit, inside]);
        for release in &section.releases {
            let left = literals.included(*release, model);
            let before = literals.before(step, *release, model);
            literals.clause_with([!lit, !left], &[before]);
        }
        ways.push(lit);
    }
    literals.clause(ways);
}

/// All who arrive for a round come before the one who completes it, and he before all who leave, and before all who
/// arrive for the next.
fn meet(round: u32, model: &Model, literals: &mut Literals) {
    let Round { arrivals, last, leaves, previous } = &model.rounds[round as usize];
    let everybody: Vec<Ix> = arrivals.iter().chain(last).chain(leaves).copied().collect();
    let constraint = Constraint::new(Demand::Round, everybody.iter().map(|at| name(model, *at)));
    let switch = literals.name(constraint);
    let mut edges: Vec<(Ix, Ix)> = Vec::new();
    let before = previous.and_then(|previous| model.rounds[previous as usize].last);
    edges.extend(before.iter().flat_map(|before| arrivals.iter().chain(last).map(|at| (*before, *at))));
    if let Some(last) = last {
        edges.extend(arrivals.iter().map(|at| (*at, *last)));
        edges.extend(leaves.iter().map(|at| (*last, *at)));
    }
    literals.orders.mean(switch, edges.iter().copied());
    for (first, second) in edges {
        let (first, second) = (literals.included(first, model), literals.included(second, model));
        literals.clause([!switch, !second, first]);
    }
}

fn see_alive(step: Ix, model: &Model, literals: &mut Literals) {
    let exits = acts(model, step, |act| match act {
        Act::Unended(thread) => model.exits.get(&thread).cloned(),
        _ => None,
    });
    let switch = literals
        .name(Constraint::new(Demand::Unended, [step].iter().chain(&exits).map(|at| name(model, *at))));
    let made = literals.included(step, model);
    for exit in exits {
        let ended = literals.included(exit, model);
        let before = literals.before(step, exit, model);
        literals.clause_with([!switch, !made, !ended], &[before]);
    }
}

fn keep(chain: u32, model: &Model, literals: &mut Literals) {
    let chain = &model.chains[chain as usize];
    let constraint = Constraint::new(Demand::Kept(chain.of), chain.steps.iter().map(|at| name(model, *at)));
    let switch = literals.name(constraint);
    literals.orders.mean(switch, chain.steps.windows(2).map(|two| (two[0], two[1])));
    for two in chain.steps.windows(2) {
        let (first, second) = (literals.included(two[0], model), literals.included(two[1], model));
        literals.clause([!switch, !second, first]);
    }
}

/// A write is not between two steps of the goal.
pub fn keep_out(pair: Lit, first: Ix, second: Ix, writer: Ix, model: &Model, literals: &mut Literals) {
    let made = literals.included(writer, model);
    let before = literals.before(writer, first, model);
    let after = literals.before(second, writer, model);
    let terms: [Term; 2] = [before, after];
    literals.clause_with([!pair, !made], &terms);
}
