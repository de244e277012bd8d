//! Locks, conditions, barriers, semaphores and the like: which steps belong together.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use threadbare_trace::ThreadId;

use super::{Act, Chain, Condition, Ix, Model, Round, Section, Semaphore};
use crate::action::{Action, Kept};
use crate::doubt::Doubt;

/// What a thread has under way after a step.
#[derive(Clone, Default)]
struct Local {
    /// Locks held: the lock, its section, how often it was taken.
    held: Vec<(u64, u32, u32)>,
    /// The wait in progress.
    waits_since: Option<Ix>,
}

/// A barrier as recorded.
#[derive(Default)]
struct Barrier {
    current: Option<u32>,
    previous: Option<u32>,
    rounds: BTreeMap<u64, u32>,
}

/// Follows the synchronization of all threads, in recorded order.
pub(super) struct Syncing {
    locals: Vec<Rc<Local>>,
    locks: HashMap<u64, u32>,
    /// By lock: the sections that are open.
    open: Vec<Vec<u32>>,
    conditions: HashMap<u64, u32>,
    semaphores: HashMap<u64, u32>,
    barriers: HashMap<u64, Barrier>,
    chains: HashMap<Kept, u32>,
    latest: BTreeMap<ThreadId, Ix>,
    tokens: HashMap<u64, u64>,
    kept_conditions: HashSet<u64>,
    kept_semaphores: HashSet<u64>,
    several_creators: bool,
    is_first_in_step: bool,
}

impl Syncing {
    pub(super) fn new<'a>(
        actions: impl Iterator<Item = &'a Action>,
        model: &Model,
        tokens: &HashMap<u64, u64>,
    ) -> Syncing {
        let creators = model.creators.values().flatten().map(|at| model.step(*at).thread);
        let creators: BTreeSet<ThreadId> = creators.collect();
        let mut syncing = Syncing {
            locals: Vec::with_capacity(model.len()),
            locks: HashMap::new(),
            open: Vec::new(),
            conditions: HashMap::new(),
            semaphores: HashMap::new(),
            barriers: HashMap::new(),
            chains: HashMap::new(),
            latest: BTreeMap::new(),
            tokens: tokens.clone(),
            kept_conditions: HashSet::new(),
            kept_semaphores: HashSet::new(),
            several_creators: creators.len() > 1,
            is_first_in_step: false,
        };
        for action in actions {
            if let Action::Timeout { condition, .. } = action {
                syncing.kept_conditions.insert(*condition);
            }
            if let Action::Empty(semaphore) = action {
                syncing.kept_semaphores.insert(*semaphore);
            }
        }
        syncing
    }

    /// Notes what a step does.
    pub(super) fn enter(&mut self, at: Ix, actions: &[Action], model: &mut Model) {
        let local = match model.step(at).parent {
            Some(parent) => Rc::clone(&self.locals[parent as usize]),
            None => Rc::default(),
        };
        self.locals.push(local);
        for (place, action) in actions.iter().enumerate() {
            self.is_first_in_step = place == 0;
            self.take_in(at, action, model);
        }
        self.latest.insert(model.step(at).thread, at);
    }

    fn act(&mut self, act: Act, model: &mut Model) {
        model.doubts.extend(act.doubt());
        model.acts.push(act);
    }

    fn take_in(&mut self, at: Ix, action: &Action, model: &mut Model) {
        use Action::*;
        match *action {
            Acquire { lock, shared, tries } => self.acquire(at, lock, (shared, tries), model),
            Release(lock) => self.release(at, lock, model),
            Refused(lock) => self.refused(at, lock, model),
            Wait { condition, mutex } => {
                if !self.keep_if(self.kept_conditions.contains(&condition), at, condition, model) {
                    let number = self.condition(condition, model);
                    self.act(Act::Wait(number), model);
                }
                Rc::make_mut(&mut self.locals[at as usize]).waits_since = Some(at);
                self.release(at, mutex, model);
            }
            Wake { condition, mutex } | Timeout { condition, mutex } => {
                let since = Rc::make_mut(&mut self.locals[at as usize]).waits_since.take();
                if !self.keep_if(self.kept_conditions.contains(&condition), at, condition, model)
                    && let Some(since) = since
                {
                    let number = self.condition(condition, model);
                    model.conditions[number as usize].wakes.push((at, since));
                    self.act(Act::Wake(number, since), model);
                }
                if mutex != 0 {
                    self.acquire(at, mutex, (false, false), model);
                }
            }
            Signal { condition, all } => {
                if !self.keep_if(self.kept_conditions.contains(&condition), at, condition, model) {
                    let number = self.condition(condition, model);
                    model.conditions[number as usize].signals.push((at, all));
                    self.act(Act::Signal(number, all), model);
                }
            }
            Arrive(barrier) => self.arrive(at, barrier, model),
            Leave(barrier, number) => self.leave(at, barrier, number, model),
            Take(semaphore) | Post(semaphore) | Empty(semaphore) => {
                self.count(at, semaphore, action, model);
            }
            Create(_) if self.several_creators => {
                self.keep(at, Kept::Creation, model);
            }
            Exit => self.act(Act::Exit, model),
            Join(thread) => self.act(Act::Join(thread), model),
            Unended(thread) => self.act(Act::Unended(thread), model),
            Keep(thing, _) => self.keep(at, thing, model),
            Watershed(..) => {
                let number = model.watersheds.len() as u32;
                let own = model.step(at).thread;
                let others = self.latest.iter().filter(|(thread, _)| **thread != own);
                model.watersheds.push(others.map(|(_, at)| *at).collect());
                self.act(Act::Watershed(number), model);
            }
            Idle(threadbare_trace::EventKind::Sleep) => {
                model.doubts.insert(Doubt::Time);
            }
            Idle(threadbare_trace::EventKind::Signal) => {
                model.doubts.insert(Doubt::Outside);
            }
            Read(..) | Write(..) | Update(..) | Touch(..) => {}
            Free(_) | Create(_) | Start(_) | Renew { .. } | Idle(_) => {}
        }
    }

    /// Keeps the steps on a thing in order.
    pub(super) fn keep(&mut self, at: Ix, thing: Kept, model: &mut Model) {
        let chain = *self.chains.entry(thing).or_insert_with(|| {
            model.chains.push(Chain { of: thing, steps: Vec::new() });
            model.chains.len() as u32 - 1
        });
        model.doubts.insert(match thing {
            Kept::Futex(_) => Doubt::Futex,
            Kept::Condition(_) => Doubt::Time,
            Kept::Semaphore(_) | Kept::Lock(_) => Doubt::Refusal,
            Kept::Descriptor(_) => Doubt::Outside,
            Kept::Memory(_) => Doubt::HiddenWrite,
            Kept::Creation => Doubt::Creation,
        });
        let steps = &mut model.chains[chain as usize].steps;
        if steps.last() == Some(&at) {
            return;
        }
        steps.push(at);
        let place = steps.len() as u32 - 1;
        self.act(Act::Keep(chain, place), model);
    }

    fn keep_if(&mut self, keep: bool, at: Ix, condition: u64, model: &mut Model) -> bool {
        if keep {
            self.keep(at, Kept::Condition(condition), model);
        }
        keep
    }

    fn condition(&mut self, condition: u64, model: &mut Model) -> u32 {
        *self.conditions.entry(condition).or_insert_with(|| {
            model.conditions.push(Condition::default());
            model.conditions.len() as u32 - 1
        })
    }

    fn lock(&mut self, lock: u64, model: &mut Model) -> u32 {
        *self.locks.entry(lock).or_insert_with(|| {
            model.locks += 1;
            model.sections_of.push(Vec::new());
            self.open.push(Vec::new());
            model.locks - 1
        })
    }

    fn acquire(&mut self, at: Ix, lock: u64, (shared, tries): (bool, bool), model: &mut Model) {
        let local = Rc::make_mut(&mut self.locals[at as usize]);
        if let Some((_, _, depth)) = local.held.iter_mut().find(|(held, ..)| *held == lock) {
            *depth += 1;
            return;
        }
        let number = self.lock(lock, model);
        let section = model.sections.len() as u32;
        if !model.branches {
            self.release_those_of_ended_owners(number, model);
            self.open[number as usize].push(section);
        }
        Rc::make_mut(&mut self.locals[at as usize]).held.push((lock, section, 1));
        let thread = model.step(at).thread;
        model.sections.push(Section {
            lock: number,
            shared,
            tries,
            comes_first: self.is_first_in_step,
            thread,
            acquire: at,
            releases: Vec::new(),
        });
        model.sections_of[number as usize].push(section);
        self.act(Act::Acquire(section), model);
    }

    /// A lock that can be taken although its owner has ended is a robust one: the end released it.
    fn release_those_of_ended_owners(&mut self, lock: u32, model: &mut Model) {
        self.open[lock as usize].retain(|section| {
            let Section { thread, releases, .. } = &mut model.sections[*section as usize];
            let exit = model.exits.get(thread).and_then(|exits| exits.first());
            match exit {
                // Recorded before the step at hand, which is yet to get its acts.
                Some(exit) if (*exit as usize) < self.locals.len() - 1 => {
                    releases.push(*exit);
                    model.doubts.insert(Doubt::Lifetime);
                    false
                }
                _ => true,
            }
        });
    }

    fn release(&mut self, at: Ix, lock: u64, model: &mut Model) {
        let held = &mut Rc::make_mut(&mut self.locals[at as usize]).held;
        let Some(place) = held.iter().position(|(other, ..)| *other == lock) else { return };
        held[place].2 -= 1;
        if held[place].2 > 0 {
            return;
        }
        let (_, section, _) = held.remove(place);
        model.sections[section as usize].releases.push(at);
        let number = self.lock(lock, model);
        self.open[number as usize].retain(|open| *open != section);
        self.act(Act::Release(section), model);
    }

    fn refused(&mut self, at: Ix, lock: u64, model: &mut Model) {
        let thread = model.step(at).thread;
        let number = self.lock(lock, model);
        let open = &self.open[number as usize];
        let holds = |section: &u32| model.sections[*section as usize].thread == thread;
        if open.iter().any(holds) {
            // It has the lock itself: nobody else is the reason.
            model.doubts.insert(Doubt::Refusal);
            return;
        }
        if open.is_empty() {
            return self.keep(at, Kept::Lock(lock), model);
        }
        let by_readers = open.iter().all(|section| model.sections[*section as usize].shared);
        self.act(Act::Refused { lock: number, by_readers }, model);
    }

    fn arrive(&mut self, at: Ix, barrier: u64, model: &mut Model) {
        let place = self.barriers.entry(barrier).or_default();
        let round = *place.current.get_or_insert_with(|| {
            model.rounds.push(Round { previous: place.previous, ..Round::default() });
            model.rounds.len() as u32 - 1
        });
        model.rounds[round as usize].arrivals.push(at);
        self.act(Act::Arrive(round, false), model);
    }

    fn leave(&mut self, at: Ix, barrier: u64, number: u64, model: &mut Model) {
        let place = self.barriers.entry(barrier).or_default();
        if let Some(round) = place.rounds.get(&number) {
            let round = *round;
            model.rounds[round as usize].leaves.push(at);
            return self.act(Act::Leave(round), model);
        }
        // The first to leave is the one who completed the round.
        let Some(round) = place.current.take() else { return };
        place.previous = Some(round);
        place.rounds.insert(number, round);
        let Round { arrivals, last, leaves, .. } = &mut model.rounds[round as usize];
        if arrivals.last() == Some(&at) {
            arrivals.pop();
            *last = Some(at);
            if let Some(arrived) = model.acts.iter_mut().rev().find(|act| **act == Act::Arrive(round, false))
            {
                *arrived = Act::Arrive(round, true);
            }
        } else {
            leaves.push(at);
            self.act(Act::Leave(round), model);
        }
    }

    fn count(&mut self, at: Ix, semaphore: u64, action: &Action, model: &mut Model) {
        if self.kept_semaphores.contains(&semaphore) {
            return self.keep(at, Kept::Semaphore(semaphore), model);
        }
        let tokens = self.tokens.get(&semaphore).copied().unwrap_or(0);
        let number = *self.semaphores.entry(semaphore).or_insert_with(|| {
            model.semaphores.push(Semaphore { tokens, ..Semaphore::default() });
            model.semaphores.len() as u32 - 1
        });
        let place = &mut model.semaphores[number as usize];
        if matches!(action, Action::Take(_)) {
            place.takes.push(at);
            self.act(Act::Take(number), model);
        } else {
            place.posts.push(at);
            self.act(Act::Post(number), model);
        }
    }

    /// Things that are known only at the end: what robust locks do when their owners end.
    pub(super) fn finish(self, model: &mut Model) {
        let mut by_exit: BTreeMap<Ix, Vec<Act>> = BTreeMap::new();
        for (number, section) in model.sections.iter().enumerate() {
            for exit in &section.releases {
                let acts = model.acts_of(*exit);
                if !acts.contains(&Act::Release(number as u32)) {
                    by_exit.entry(*exit).or_default().push(Act::Release(number as u32));
                }
            }
        }
        for (exit, added) in by_exit {
            let mut acts = model.acts_of(exit).to_vec();
            acts.extend(added);
            let begin = model.acts.len() as u32;
            model.acts.extend(acts);
            model.steps[exit as usize].acts = begin..model.acts.len() as u32;
        }
    }
}
