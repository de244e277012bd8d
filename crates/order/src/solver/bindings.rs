//! What binds steps besides reads: each rule is written down once the last order has broken it.

use std::collections::{HashMap, HashSet};

use batsat::Lit;

use super::literals::{Habit, Literals, Term};
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
    Once(Ix),
    Joined(Ix),
    Unended(Ix),
    Chain(u32),
    Watershed(Ix),
}

/// The most pairs of takers and givers that are written down for one thing.
const MOST_PAIRS: usize = 400_000;

/// The rules so far.
#[derive(Default)]
pub struct Bindings {
    rules: HashSet<Rule>,
    /// By wake, and by step that takes a token: who may serve it.
    served: HashMap<Ix, Vec<(Option<Ix>, Lit)>>,
    /// By signal or post, or token from the beginning: whom it may serve.
    serves: HashMap<Giver, Vec<Lit>>,
    /// Those who use one giver only.
    single: HashSet<Ix>,
    pairs: usize,
}

/// Something that serves one only.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Giver {
    /// A signal or a post.
    Step(Ix),
    /// A semaphore and the number of one of its first tokens.
    First(u32, u64),
}

fn name(model: &Model, at: Ix) -> StepId {
    model.step(at).id
}

fn names(model: &Model, steps: &[Ix]) -> Vec<Option<StepId>> {
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
                return self.waits(condition, step, order, model, literals);
            }
            Violation::NoToken { semaphore, step } => {
                return self.tokens(semaphore, step, order, model, literals);
            }
            Violation::Locked { section, holder } => Rule::Sections(section.min(holder), section.max(holder)),
            Violation::Lifetime { step, renewal } => Rule::Lifetime(step, renewal),
            Violation::NotRefused(step) => Rule::Refused(step),
            Violation::Round(round) => Rule::Round(round),
            Violation::NotRun(step) => Rule::Once(step),
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
            Rule::Once(step) => {
                let ends = acts(model, step, |act| match act {
                    Act::OnceSeen(once) => Some(model.once_ends[once as usize].clone()),
                    _ => None,
                });
                follow_one_of(Demand::RunOnce, step, &ends, model, literals);
            }
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

    /// Every wait that ends in this order is ended by a signal of its own, or by a broadcast.
    fn waits(
        &mut self,
        condition: u32,
        step: Ix,
        order: &[Ix],
        model: &Model,
        literals: &mut Literals,
    ) -> bool {
        let condition = &model.conditions[condition as usize];
        let in_order: HashSet<Ix> = order.iter().copied().collect();
        let mut learned = false;
        for &(wake, since) in &condition.wakes {
            if (wake != step && !in_order.contains(&wake)) || self.served.contains_key(&wake) {
                continue;
            }
            self.pairs += condition.signals.len();
            if self.pairs > MOST_PAIRS {
                return false;
            }
            learned = true;
            let signals: Vec<Ix> = condition.signals.iter().map(|(signal, _)| *signal).collect();
            let constraint = Constraint::new(Demand::Woken, [name(model, wake)]);
            let switch = literals.name(constraint.with(names(model, &signals)));
            let mut ways = Vec::new();
            for &(signal, all) in nearest(&condition.signals, wake).iter() {
                let lit = literals.fresh(if ways.is_empty() { Habit::Follows } else { Habit::No });
                literals.orders.mean(lit, [(since, signal), (signal, wake)]);
                let made = literals.included(signal, model);
                literals.clause([!lit, made]);
                if !all {
                    self.once_only(Giver::Step(signal), lit, literals);
                }
                ways.push((Some(signal), lit));
            }
            self.serve(wake, switch, ways, model, literals);
        }
        learned
    }

    /// Every token that is taken in this order was there at the beginning or was added before.
    fn tokens(
        &mut self,
        number: u32,
        step: Ix,
        order: &[Ix],
        model: &Model,
        literals: &mut Literals,
    ) -> bool {
        let semaphore = &model.semaphores[number as usize];
        let in_order: HashSet<Ix> = order.iter().copied().collect();
        let first = semaphore.tokens.min(semaphore.takes.len() as u64);
        let mut learned = false;
        for &take in &semaphore.takes {
            if (take != step && !in_order.contains(&take)) || self.served.contains_key(&take) {
                continue;
            }
            self.pairs += semaphore.posts.len() + first as usize;
            if self.pairs > MOST_PAIRS {
                return false;
            }
            learned = true;
            let mut options = names(model, &semaphore.posts);
            options.extend((first > 0).then_some(None));
            let constraint = Constraint::new(Demand::Token, [name(model, take)]).with(options);
            let switch = literals.name(constraint);
            let mut ways = Vec::new();
            for token in 0..first {
                let lit = literals.fresh(if ways.is_empty() { Habit::Follows } else { Habit::No });
                self.once_only(Giver::First(number, token), lit, literals);
                ways.push((None, lit));
            }
            let posts: Vec<(Ix, bool)> = semaphore.posts.iter().map(|post| (*post, false)).collect();
            for &(post, _) in nearest(&posts, take).iter() {
                let lit = literals.fresh(if ways.is_empty() { Habit::Follows } else { Habit::No });
                literals.orders.mean(lit, [(post, take)]);
                let made = literals.included(post, model);
                literals.clause([!lit, made]);
                self.once_only(Giver::Step(post), lit, literals);
                ways.push((Some(post), lit));
            }
            self.serve(take, switch, ways, model, literals);
        }
        learned
    }

    /// Binds all waits that end on a condition, each to one signal only; none if they are too many.
    pub fn bind_waits(&mut self, condition: u32, model: &Model, literals: &mut Literals) -> Option<()> {
        let wakes: Vec<Ix> =
            model.conditions[condition as usize].wakes.iter().map(|(wake, _)| *wake).collect();
        if let Some(&any) = wakes.first() {
            self.waits(condition, any, &wakes, model, literals);
        }
        self.one_each(&wakes, literals)
    }

    /// Binds all who take tokens of a semaphore, each to one token only; none if they are too many.
    pub fn bind_tokens(&mut self, semaphore: u32, model: &Model, literals: &mut Literals) -> Option<()> {
        let takes = &model.semaphores[semaphore as usize].takes;
        if let Some(&any) = takes.first() {
            self.tokens(semaphore, any, takes, model, literals);
        }
        self.one_each(takes, literals)
    }

    /// Lets each of these steps use one giver only.
    fn one_each(&mut self, steps: &[Ix], literals: &mut Literals) -> Option<()> {
        for step in steps {
            let ways: Vec<Lit> = self.served.get(step)?.iter().map(|(_, lit)| *lit).collect();
            if !self.single.insert(*step) {
                continue;
            }
            self.pairs += ways.len() * ways.len() / 2;
            if self.pairs > MOST_PAIRS {
                return None;
            }
            for (place, way) in ways.iter().enumerate() {
                for other in &ways[place + 1..] {
                    literals.clause([!*way, !*other]);
                }
            }
        }
        Some(())
    }

    /// The literals of those who may use a giver.
    pub fn users(&self, giver: Giver) -> Vec<Lit> {
        self.serves.get(&giver).cloned().unwrap_or_default()
    }

    fn serve(
        &mut self,
        step: Ix,
        switch: Lit,
        ways: Vec<(Option<Ix>, Lit)>,
        model: &Model,
        literals: &mut Literals,
    ) {
        let made = literals.included(step, model);
        literals.clause([!switch, !made].into_iter().chain(ways.iter().map(|(_, lit)| *lit)));
        for (_, way) in &ways {
            literals.clause([!*way, made]);
        }
        self.served.insert(step, ways);
    }

    fn once_only(&mut self, giver: Giver, lit: Lit, literals: &mut Literals) {
        let others = self.serves.entry(giver).or_default();
        for other in others.iter() {
            literals.clause([!lit, !*other]);
        }
        others.push(lit);
    }
}

/// The steps ordered by how likely they served this one: those before it, the last first, then those after it.
fn nearest(givers: &[(Ix, bool)], step: Ix) -> Vec<(Ix, bool)> {
    let (mut before, after): (Vec<_>, Vec<_>) = givers.iter().copied().partition(|(giver, _)| *giver < step);
    before.reverse();
    before.extend(after);
    before
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
    let options: Vec<Lit> = options.iter().map(|option| literals.included(*option, model)).collect();
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
        let ended: Vec<Lit> = section.releases.iter().map(|end| literals.included(*end, model)).collect();
        literals.clause([!way, !made[0], !made[1]].into_iter().chain(ended));
    }
}

/// A thing is used after it was made and before it is given back.
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
