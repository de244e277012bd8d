//! Who is woken by whom, and whose tokens are taken: each signal and each token serves one only.

use std::collections::{HashMap, HashSet};

use batsat::Lit;

use super::bindings::{name, names};
use super::literals::{Habit, Literals};
use crate::constraint::{Constraint, Demand};
use crate::model::{Ix, Model};

/// The most pairs of takers and givers that are written down.
const MOST_PAIRS: usize = 400_000;

/// Something that serves one only.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Giver {
    /// A signal or a post.
    Step(Ix),
    /// A semaphore and the number of one of its first tokens.
    First(u32, u64),
}

/// What has been written down so far.
#[derive(Default)]
pub struct WakeUps {
    /// By wake, and by step that takes a token: who may serve it.
    served: HashMap<Ix, Vec<(Option<Ix>, Lit)>>,
    /// By signal or post, or token from the beginning: whom it may serve.
    serves: HashMap<Giver, Vec<Lit>>,
    /// Those who use one giver only.
    single: HashSet<Ix>,
    /// Wakes that do not use a signal as long as there is an older one.
    oldest: HashSet<(Ix, Ix, Ix)>,
    pairs: usize,
}

impl WakeUps {
    /// Every wait that ends in this order is ended by a signal of its own, or by a broadcast.
    pub fn waits(
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
    pub fn tokens(
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

    /// Whoever is woken uses the oldest signal that he can use; that matters to those who are left waiting. Writes
    /// this down for what a wake skipped in this order; says whether that is new.
    pub fn use_the_oldest(&mut self, order: &[Ix], model: &Model, literals: &mut Literals) -> bool {
        let places: HashMap<Ix, usize> = order.iter().enumerate().map(|(place, at)| (*at, place)).collect();
        let place = |at: Ix| places.get(&at).copied();
        let mut skipped: Vec<(u32, Ix, Ix, Ix, Lit, Ix)> = Vec::new();
        for (number, condition) in model.conditions.iter().enumerate() {
            for &(wake, since) in condition.wakes.iter().filter(|(wake, _)| place(*wake).is_some()) {
                let Some(ways) = self.served.get(&wake) else { continue };
                let used = ways.iter().find(|(_, lit)| literals.holds(*lit));
                let Some(&(Some(signal), lit)) = used else { continue };
                for &(older, _) in &condition.signals {
                    if place(since) < place(older) && place(older) < place(signal) && place(older).is_some() {
                        skipped.push((number as u32, wake, since, signal, lit, older));
                    }
                }
            }
        }
        let mut learned = false;
        for (number, wake, since, signal, lit, older) in skipped {
            if !self.oldest.insert((wake, signal, older)) {
                continue;
            }
            learned = true;
            let mut clause = vec![!lit, !literals.included(older, model)];
            for &(other, _) in model.conditions[number as usize].wakes.iter().filter(|(w, _)| *w != wake) {
                let ways = self.served.get(&other).into_iter().flatten();
                let Some((_, uses)) = ways.into_iter().find(|(giver, _)| *giver == Some(older)) else {
                    continue;
                };
                let uses = *uses;
                let used_before = literals.fresh(Habit::No);
                literals.clause([!used_before, uses]);
                let before = literals.before(other, wake, model);
                literals.clause_with([!used_before], &[before]);
                clause.push(used_before);
            }
            let terms = [literals.before(older, since, model), literals.before(signal, older, model)];
            literals.clause_with(clause, &terms);
        }
        learned
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
