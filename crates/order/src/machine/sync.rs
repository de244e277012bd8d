//! Locks, conditions, semaphores and the like, as they are while steps are made.

use std::collections::{HashMap, HashSet};

use threadbare_trace::ThreadId;

use super::Violation;
use crate::model::{Act, Ix, Model, Section};

/// Waiters and signals. A signal lets one waiter go that came before it, whichever is chosen.
#[derive(Clone, Default)]
struct Queue {
    now: u32,
    /// Who waits: the step that began it, and when.
    waiters: Vec<(Ix, u32)>,
    /// When each unused signal came.
    permits: Vec<u32>,
}

impl Queue {
    fn wait(&mut self, since: Ix) {
        self.now += 1;
        self.waiters.push((since, self.now));
    }

    fn signal(&mut self, all: bool) {
        self.now += 1;
        let unserved = self.waiters.len() - self.permits.len();
        let woken = if all { unserved } else { unserved.min(1) };
        self.permits.extend(std::iter::repeat_n(self.now, woken));
    }

    /// Ends a wait; says whether a signal allowed it.
    fn leave(&mut self, since: Ix) -> bool {
        let Some(place) = self.waiters.iter().position(|(waiter, _)| *waiter == since) else { return false };
        let (_, came) = self.waiters.remove(place);
        let permit = self.permits.iter().position(|permit| *permit > came);
        let is_allowed = permit.is_some();
        if let Some(permit) = permit {
            self.permits.remove(permit);
        }
        let waiters = &self.waiters;
        self.permits.retain(|permit| waiters.iter().any(|(_, came)| permit > came));
        self.permits.truncate(self.waiters.len());
        is_allowed
    }
}

/// The state of everything but memory.
pub(super) struct Sync {
    /// By lock: the sections inside.
    inside: Vec<Vec<u32>>,
    conditions: Vec<Queue>,
    tokens: Vec<u64>,
    /// By round: how many have arrived, and whether it is complete.
    rounds: Vec<(u32, bool)>,
    ended: HashMap<ThreadId, Ix>,
    /// By chain: how many of its steps have been made.
    chains: Vec<u32>,
    made: HashSet<Ix>,
}

impl Sync {
    pub(super) fn new(model: &Model) -> Sync {
        Sync {
            inside: vec![Vec::new(); model.locks as usize],
            conditions: vec![Queue::default(); model.conditions.len()],
            tokens: model.semaphores.iter().map(|semaphore| semaphore.tokens).collect(),
            rounds: vec![(0, false); model.rounds.len()],
            ended: HashMap::new(),
            chains: vec![0; model.chains.len()],
            made: HashSet::new(),
        }
    }

    /// Lets a step happen; if it does not go as recorded, only its place in a chain counts, and that it is inside a
    /// critical section that it begins before it sees anything.
    pub(super) fn enter(
        &mut self,
        at: Ix,
        as_recorded: bool,
        model: &Model,
        violations: &mut Vec<Violation>,
    ) {
        for act in model.acts_of(at) {
            let counts = match act {
                Act::Keep(..) => true,
                Act::Acquire(section) => model.sections[*section as usize].comes_first,
                Act::Release(_) | Act::Refused { .. } | Act::Wait(_) | Act::Wake(..) | Act::Signal(..) => {
                    false
                }
                Act::Arrive(..) | Act::Leave(_) | Act::Take(_) | Act::Post(_) => false,
                Act::Exit | Act::Join(_) | Act::Unended(_) | Act::Watershed(_) => false,
            };
            if !as_recorded && !counts {
                continue;
            }
            if let Some(violation) = self.make(at, *act, model) {
                violations.push(violation);
            }
        }
        if !model.watersheds.is_empty() {
            self.made.insert(at);
        }
    }

    fn make(&mut self, at: Ix, act: Act, model: &Model) -> Option<Violation> {
        let thread = model.step(at).thread;
        match act {
            Act::Acquire(section) => return self.acquire(section, model),
            Act::Release(section) => {
                let lock = model.sections[section as usize].lock as usize;
                self.inside[lock].retain(|other| *other != section);
            }
            Act::Refused { lock, by_readers } => {
                let refuses = |other: &u32| {
                    let other = &model.sections[*other as usize];
                    other.thread != thread && (by_readers || !other.shared)
                };
                if !self.inside[lock as usize].iter().any(refuses) {
                    return Some(Violation::NotRefused(at));
                }
            }
            Act::Wait(condition) => self.conditions[condition as usize].wait(at),
            Act::Wake(condition, since) => {
                if !self.conditions[condition as usize].leave(since) {
                    return Some(Violation::NotWoken { condition, step: at });
                }
            }
            Act::Signal(condition, all) => self.conditions[condition as usize].signal(all),
            Act::Arrive(round, completes) => return self.arrive(round, completes, model),
            Act::Leave(round) => {
                if !self.rounds[round as usize].1 {
                    return Some(Violation::Round(round));
                }
            }
            Act::Take(semaphore) => match self.tokens[semaphore as usize].checked_sub(1) {
                Some(left) => self.tokens[semaphore as usize] = left,
                None => return Some(Violation::NoToken { semaphore, step: at }),
            },
            Act::Post(semaphore) => self.tokens[semaphore as usize] += 1,
            Act::Exit => {
                self.ended.insert(thread, at);
            }
            Act::Join(other) => {
                if !self.ended.contains_key(&other) {
                    return Some(Violation::NotEnded(at));
                }
            }
            Act::Unended(other) => {
                if let Some(exit) = self.ended.get(&other) {
                    return Some(Violation::Ended { step: at, exit: *exit });
                }
            }
            Act::Keep(chain, place) => {
                let next = std::mem::replace(&mut self.chains[chain as usize], place + 1);
                if next != place {
                    return Some(Violation::Chain(chain));
                }
            }
            Act::Watershed(number) => {
                if model.watersheds[number as usize].iter().any(|before| !self.made.contains(before)) {
                    return Some(Violation::Watershed(at));
                }
            }
        }
        None
    }

    /// Whether some thread is enabled after these steps, or the process has come to its end.
    pub(super) fn some_thread_is_enabled(&self, model: &Model, order: &[Ix]) -> bool {
        let mut last: HashMap<ThreadId, Ix> = HashMap::new();
        for at in order {
            last.insert(model.step(*at).thread, *at);
        }
        let is_created = |thread: ThreadId| match model.creators.get(&thread) {
            Some(creators) => order.iter().any(|at| creators.contains(at)),
            None => true,
        };
        let unseen = model.creators.keys().copied().filter(|child| model.thread(*child).is_empty());
        let begins = model.threads().chain(unseen).any(|thread| {
            let is_blocked = model.roots(thread).into_iter().any(|root| self.is_blocked(root, model));
            !last.contains_key(&thread) && is_created(thread) && !is_blocked
        });
        let is_enabled = |(thread, at): (&ThreadId, &Ix)| {
            let children = &model.step(*at).children;
            !self.ended.contains_key(thread) && !children.iter().any(|child| self.is_blocked(*child, model))
        };
        let all_ended = |thread: ThreadId| self.ended.contains_key(&thread) || !is_created(thread);
        begins || last.iter().any(is_enabled) || model.threads().all(all_ended)
    }

    /// Whether a step cannot be made now.
    fn is_blocked(&self, at: Ix, model: &Model) -> bool {
        let is_held = |section: u32| {
            let Section { lock, shared, tries, .. } = model.sections[section as usize];
            let excludes = |other: &u32| !shared || !model.sections[*other as usize].shared;
            !tries && self.inside[lock as usize].iter().any(excludes)
        };
        model.acts_of(at).iter().any(|act| match act {
            Act::Acquire(section) => is_held(*section),
            Act::Wake(condition, since) => {
                let mut queue = self.conditions[*condition as usize].clone();
                !queue.leave(*since)
            }
            Act::Take(semaphore) => self.tokens[*semaphore as usize] == 0,
            Act::Leave(round) => !self.rounds[*round as usize].1,
            Act::Join(thread) => !self.ended.contains_key(thread),
            // These never block.
            Act::Release(_) | Act::Refused { .. } | Act::Wait(_) | Act::Signal(..) | Act::Arrive(..) => false,
            Act::Post(_) | Act::Exit | Act::Unended(_) | Act::Keep(..) | Act::Watershed(_) => false,
        })
    }

    fn acquire(&mut self, section: u32, model: &Model) -> Option<Violation> {
        let Section { lock, shared, .. } = model.sections[section as usize];
        let inside = &mut self.inside[lock as usize];
        let excludes = |other: &&u32| !shared || !model.sections[**other as usize].shared;
        let holder = inside.iter().find(excludes).copied();
        if holder.is_some() {
            // As if the others had left, so that one mistake is not reported again and again.
            inside.clear();
        }
        inside.push(section);
        holder.map(|holder| Violation::Locked { section, holder })
    }

    fn arrive(&mut self, round: u32, completes: bool, model: &Model) -> Option<Violation> {
        let others = model.rounds[round as usize].arrivals.len() as u32;
        let previous = model.rounds[round as usize].previous;
        if previous.is_some_and(|previous| !self.rounds[previous as usize].1) {
            return Some(Violation::Round(round));
        }
        let (arrived, complete) = &mut self.rounds[round as usize];
        if completes {
            *complete = true;
            return (*arrived != others).then_some(Violation::Round(round));
        }
        *arrived += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_lets_one_waiter_go_that_came_before_it() {
        let mut queue = Queue::default();
        queue.signal(false);
        queue.wait(1);
        queue.wait(2);
        queue.signal(false);
        queue.wait(3);
        assert!(!queue.leave(3), "it came after the signal");
        assert!(queue.leave(2));
        assert!(!queue.leave(1), "the signal is used up");
    }

    #[test]
    fn a_broadcast_lets_all_go_and_is_not_kept() {
        let mut queue = Queue::default();
        queue.wait(1);
        queue.wait(2);
        queue.signal(true);
        assert!(queue.leave(1) && queue.leave(2));
        queue.wait(3);
        assert!(!queue.leave(3));
    }
}
