//! Nobody can go on: every thread has ended, does not exist yet, or stands before an operation that it cannot make.

use batsat::Lit;

use super::bindings::{Bindings, Giver};
use super::literals::{Habit, Literals};
use crate::model::{Act, Ix, Model};

/// A literal that holds only where nobody can go on, and not in one of the known places. None if there is too much to
/// write down.
pub fn stuck(
    known: &[Vec<Ix>],
    model: &Model,
    literals: &mut Literals,
    bindings: &mut Bindings,
) -> Option<Lit> {
    let goal = literals.fresh(Habit::No);
    let mut stops = Vec::new();
    let mut threads: Vec<_> = model.threads().collect();
    threads.sort_unstable();
    for thread in threads {
        let mut ways = vec![!goal];
        for &at in model.thread(thread) {
            let step = model.step(at);
            if model.acts_of(at).contains(&Act::Exit) {
                let made = literals.included(at, model);
                let recorded = literals.as_recorded(at, model);
                literals.clause([!goal, !made, recorded]);
                ways.push(made);
            } else if step.children.iter().any(|child| can_block(*child, model)) {
                let stop = stop(at, model, literals, bindings)?;
                stops.push((at, stop));
                ways.push(stop);
            }
        }
        if let Some(creators) = model.creators.get(&thread) {
            let uncreated = literals.fresh(Habit::No);
            for creator in creators {
                let made = literals.included(*creator, model);
                literals.clause([!uncreated, !made]);
            }
            ways.push(uncreated);
        }
        literals.clause(ways);
    }
    literals.clause([!goal].into_iter().chain(stops.iter().map(|(_, stop)| *stop)));
    for known in known {
        // Somebody stands elsewhere.
        let elsewhere = known.iter().filter_map(|at| stops.iter().find(|(stop, _)| stop == at));
        let elsewhere: Vec<Lit> = elsewhere.map(|(_, stop)| !*stop).collect();
        literals.clause([!goal].into_iter().chain(elsewhere));
    }
    Some(goal)
}

fn can_block(at: Ix, model: &Model) -> bool {
    let blocks = |act: &Act| match act {
        Act::Acquire(section) => !model.sections[*section as usize].tries,
        Act::Wake(..) | Act::Take(_) | Act::Leave(_) | Act::Join(_) => true,
        _ => false,
    };
    model.acts_of(at).iter().any(blocks)
}

/// The thread stands after this step and cannot make the next.
fn stop(at: Ix, model: &Model, literals: &mut Literals, bindings: &mut Bindings) -> Option<Lit> {
    let stop = literals.fresh(Habit::No);
    let (made, recorded) = (literals.included(at, model), literals.as_recorded(at, model));
    literals.clause([!stop, made]);
    literals.clause([!stop, recorded]);
    let mut reasons = vec![!stop];
    for &child in &model.step(at).children {
        let next = literals.included(child, model);
        literals.clause([!stop, !next]);
        for act in model.acts_of(child) {
            match *act {
                Act::Acquire(section) => reasons.extend(holders(section, model, literals)),
                Act::Join(thread) => {
                    let alive = literals.fresh(Habit::No);
                    for exit in model.exits.get(&thread).into_iter().flatten() {
                        let ended = literals.included(*exit, model);
                        literals.clause([!alive, !ended]);
                    }
                    reasons.push(alive);
                }
                Act::Leave(round) => {
                    let last = model.rounds[round as usize].last?;
                    reasons.push(!literals.included(last, model));
                }
                Act::Wake(condition, since) => {
                    reasons.push(unsignalled(condition, since, model, literals, bindings)?);
                }
                Act::Take(semaphore) => reasons.push(empty(semaphore, model, literals, bindings)?),
                _ => {}
            }
        }
    }
    literals.clause(reasons);
    Some(stop)
}

/// For each other section of the lock: it has begun and not ended.
fn holders(section: u32, model: &Model, literals: &mut Literals) -> Vec<Lit> {
    let wanted = &model.sections[section as usize];
    let mut holders = Vec::new();
    if wanted.tries {
        return holders;
    }
    for other in &model.sections_of[wanted.lock as usize] {
        let other = &model.sections[*other as usize];
        if other.thread == wanted.thread || (wanted.shared && other.shared) {
            continue;
        }
        let inside = literals.fresh(Habit::No);
        let begun = literals.included(other.acquire, model);
        literals.clause([!inside, begun]);
        for end in &other.releases {
            let ended = literals.included(*end, model);
            literals.clause([!inside, !ended]);
        }
        holders.push(inside);
    }
    holders
}

/// Every signal since the wait began has been used by somebody else.
fn unsignalled(
    condition: u32,
    since: Ix,
    model: &Model,
    literals: &mut Literals,
    bindings: &mut Bindings,
) -> Option<Lit> {
    bindings.bind_waits(condition, model, literals)?;
    let unsignalled = literals.fresh(Habit::No);
    for &(signal, all) in &model.conditions[condition as usize].signals {
        let made = literals.included(signal, model);
        let before = literals.before(signal, since, model);
        let users = if all { Vec::new() } else { bindings.users(Giver::Step(signal)) };
        literals.clause_with([!unsignalled, !made].into_iter().chain(users), &[before]);
    }
    Some(unsignalled)
}

/// Every token has been taken.
fn empty(semaphore: u32, model: &Model, literals: &mut Literals, bindings: &mut Bindings) -> Option<Lit> {
    bindings.bind_tokens(semaphore, model, literals)?;
    let empty = literals.fresh(Habit::No);
    let place = &model.semaphores[semaphore as usize];
    for post in &place.posts {
        let made = literals.included(*post, model);
        let users = bindings.users(Giver::Step(*post));
        literals.clause([!empty, !made].into_iter().chain(users));
    }
    for token in 0..place.tokens {
        let users = bindings.users(Giver::First(semaphore, token));
        literals.clause([!empty].into_iter().chain(users));
    }
    Some(empty)
}
