//! No thread is enabled: every thread has ended, does not exist yet, or is blocked before its next operation.

use batsat::Lit;
use threadbare_trace::ThreadId;

use super::literals::{Habit, Literals};
use super::wake_ups::{Giver, WakeUps};
use crate::model::{Act, Ix, Model};

/// A literal that holds only where no thread is enabled, and not in one of the known places. None if there is too much to
/// write down.
pub fn deadlocked(
    known: &[Vec<Ix>],
    model: &Model,
    literals: &mut Literals,
    wake_ups: &mut WakeUps,
) -> Option<Lit> {
    let goal = literals.fresh(Habit::No);
    let mut threads: Vec<ThreadId> = model.threads().collect();
    threads.sort_unstable();
    let mut ends = Vec::new();
    for thread in threads {
        let end = End::of(thread, goal, model, literals, wake_ups)?;
        let ways = end.ended.iter().copied().chain(end.stops.iter().map(|(_, stop)| *stop));
        literals.clause([!goal].into_iter().chain(ways).chain(end.uncreated));
        ends.push(end);
    }
    // A thread that was created and has made no step can begin, and nobody knows what it does then.
    let unseen = model.creators.iter().filter(|(child, _)| model.thread(**child).is_empty());
    let mut creators: Vec<Ix> = unseen.flat_map(|(_, creators)| creators.iter().copied()).collect();
    creators.sort_unstable();
    for creator in creators {
        let made = literals.included(creator, model);
        literals.clause([!goal, !made]);
    }
    let all_stops = ends.iter().flat_map(|end| end.stops.iter().map(|(_, stop)| *stop));
    literals.clause([!goal].into_iter().chain(all_stops));
    for known in known {
        let elsewhere = ends.iter().flat_map(|end| end.elsewhere(known, model));
        literals.clause([!goal].into_iter().chain(elsewhere));
    }
    Some(goal)
}

/// The states of a thread when none is enabled.
struct End {
    thread: ThreadId,
    /// It is blocked after a step, or before its first.
    stops: Vec<(Option<Ix>, Lit)>,
    /// It has ended.
    ended: Vec<Lit>,
    /// Nobody has created it.
    uncreated: Option<Lit>,
}

impl End {
    fn of(
        thread: ThreadId,
        goal: Lit,
        model: &Model,
        literals: &mut Literals,
        wake_ups: &mut WakeUps,
    ) -> Option<End> {
        let mut end = End { thread, stops: Vec::new(), ended: Vec::new(), uncreated: None };
        let roots = model.roots(thread);
        if roots.iter().any(|root| can_block(*root, model)) {
            end.stops.push((None, stop(None, &roots, model, literals, wake_ups)?));
        }
        for &at in model.thread(thread) {
            let children = &model.step(at).children;
            if model.acts_of(at).contains(&Act::Exit) {
                let made = literals.included(at, model);
                let recorded = literals.as_recorded(at, model);
                literals.clause([!goal, !made, recorded]);
                end.ended.push(made);
            } else if children.iter().any(|child| can_block(*child, model)) {
                end.stops.push((Some(at), stop(Some(at), children, model, literals, wake_ups)?));
            }
        }
        if let Some(creators) = model.creators.get(&thread) {
            let uncreated = literals.fresh(Habit::No);
            for creator in creators {
                let made = literals.included(*creator, model);
                literals.clause([!uncreated, !made]);
            }
            end.uncreated = Some(uncreated);
        }
        Some(end)
    }

    /// The states other than the known ones. How a thread got to its end makes no difference.
    fn elsewhere(&self, known: &[Ix], model: &Model) -> Vec<Lit> {
        let stands = known.iter().copied().find(|at| model.step(*at).thread == self.thread);
        if let Some((_, stop)) = self.stops.iter().find(|(at, _)| *at == stands) {
            return vec![!*stop];
        }
        match stands {
            Some(_) => self.stops.iter().map(|(_, stop)| *stop).chain(self.uncreated).collect(),
            None => self.uncreated.iter().map(|uncreated| !*uncreated).collect(),
        }
    }
}

fn can_block(at: Ix, model: &Model) -> bool {
    let blocks = |act: &Act| match act {
        Act::Acquire(section) => !model.sections[*section as usize].tries,
        Act::Wake(..) | Act::Take(_) | Act::Leave(_) | Act::Join(_) => true,
        Act::Release(_) | Act::Refused { .. } | Act::Wait(_) | Act::Signal(..) | Act::Arrive(..) => false,
        Act::Post(_) | Act::Exit | Act::Unended(_) | Act::Keep(..) | Act::Watershed(_) => false,
    };
    model.acts_of(at).iter().any(blocks)
}

/// The thread is blocked after this step, or before its first.
fn stop(
    at: Option<Ix>,
    next: &[Ix],
    model: &Model,
    literals: &mut Literals,
    wake_ups: &mut WakeUps,
) -> Option<Lit> {
    let stop = literals.fresh(Habit::No);
    if let Some(at) = at {
        let (made, recorded) = (literals.included(at, model), literals.as_recorded(at, model));
        literals.clause([!stop, made]);
        literals.clause([!stop, recorded]);
    }
    let mut reasons = vec![!stop];
    for &child in next {
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
                    reasons.push(unsignalled(condition, since, model, literals, wake_ups)?);
                }
                Act::Take(semaphore) => reasons.push(empty(semaphore, model, literals, wake_ups)?),
                // These never block.
                Act::Release(_) | Act::Refused { .. } | Act::Wait(_) | Act::Signal(..) | Act::Arrive(..) => {}
                Act::Post(_) | Act::Exit | Act::Unended(_) | Act::Keep(..) | Act::Watershed(_) => {}
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
    wake_ups: &mut WakeUps,
) -> Option<Lit> {
    wake_ups.bind_waits(condition, model, literals)?;
    let unsignalled = literals.fresh(Habit::No);
    for &(signal, all) in &model.conditions[condition as usize].signals {
        let made = literals.included(signal, model);
        let before = literals.before(signal, since, model);
        let users = if all { Vec::new() } else { wake_ups.users(Giver::Step(signal)) };
        literals.clause_with([!unsignalled, !made].into_iter().chain(users), &[before]);
    }
    Some(unsignalled)
}

/// Every token has been taken.
fn empty(semaphore: u32, model: &Model, literals: &mut Literals, wake_ups: &mut WakeUps) -> Option<Lit> {
    wake_ups.bind_tokens(semaphore, model, literals)?;
    let empty = literals.fresh(Habit::No);
    let place = &model.semaphores[semaphore as usize];
    for post in &place.posts {
        let made = literals.included(*post, model);
        let users = wake_ups.users(Giver::Step(*post));
        literals.clause([!empty, !made].into_iter().chain(users));
    }
    for token in 0..place.tokens {
        let users = wake_ups.users(Giver::First(semaphore, token));
        literals.clause([!empty].into_iter().chain(users));
    }
    Some(empty)
}
