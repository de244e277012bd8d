//! Which steps can be made where, and whether they would then see what they saw.

use std::collections::HashMap;

use threadbare_happens_before::Mode;

use super::Scope;
use super::step_effects::StepEffect;
use super::steps::{Step, Steps};

/// Where an order of steps has come to: how many steps each thread has made, and who waits.
///
/// How often variables were written and who holds which lock follows from the numbers of steps; only whether a waiting thread has been
/// notified does not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct State {
    pub(super) index: Box<[u32]>,
    /// For each thread, 1 if it has been notified; for each condition variable, how many may wake. Empty where nobody waits.
    notified: Box<[u8]>,
}

/// What comes of a thread's next step.
pub(super) enum Move {
    /// It sees what it saw.
    Conforms(State),
    /// It sees or changes another version than it did.
    Varies,
}

/// For each thread that has any, the steps at which something changes, with what it is then.
type Changes<T> = Vec<(usize, Vec<(u32, T)>)>;

/// The steps with tables by which states are looked at.
pub(super) struct EnabledSteps {
    pub(super) steps: Steps,
    scope: Option<[usize; 2]>,
    /// By variable and thread: the steps that write it.
    writes: Vec<Vec<(usize, Vec<u32>)>>,
    /// By lock and thread: the steps that change how it is held, with how it is held then.
    holds: HashMap<u64, Changes<Option<Mode>>>,
    /// By semaphore and thread: the steps that change it, with the sum of changes then.
    tokens: HashMap<u64, Changes<i64>>,
    /// By thread: the condition variables it waits on, from which step on to which.
    waits: Vec<Vec<(u32, u32, usize)>>,
}

impl EnabledSteps {
    pub(super) fn new(mut steps: Steps, scope: Scope) -> EnabledSteps {
        let scope = match scope {
            Scope::All => None,
            Scope::Pair(one, other) => Some([steps.lane(one), steps.lane(other)]),
        };
        let mut enabled = EnabledSteps {
            scope,
            writes: vec![Vec::new(); steps.variables],
            holds: HashMap::new(),
            tokens: HashMap::new(),
            waits: vec![Vec::new(); steps.lanes.len()],
            steps: Steps::default(),
        };
        for (lane, own) in steps.lanes.iter().enumerate() {
            let mut held: HashMap<u64, (Mode, u32)> = HashMap::new();
            for (place, step) in own.steps.iter().enumerate() {
                for effect in &step.effects {
                    enabled.enter(lane, place as u32, effect, &mut held, &steps.conditions);
                }
            }
        }
        enabled.steps = steps;
        enabled
    }

    fn enter(
        &mut self,
        lane: usize,
        place: u32,
        effect: &StepEffect,
        held: &mut HashMap<u64, (Mode, u32)>,
        conditions: &[u64],
    ) {
        let number = |condition: u64| conditions.binary_search(&condition).unwrap_or_default();
        let mut change = |lock: u64, taken: Option<Mode>| {
            let now = match (taken, held.get(&lock).copied()) {
                (Some(mode), None) => Some((mode, 1)),
                (Some(mode), Some((known, depth))) => Some((known.max(mode), depth + 1)),
                (None, Some((mode, depth))) if depth > 1 => Some((mode, depth - 1)),
                (None, _) => None,
            };
            match now {
                Some(now) => drop(held.insert(lock, now)),
                None => drop(held.remove(&lock)),
            }
            now.map(|(mode, _)| mode)
        };
        match *effect {
            StepEffect::Access { variable, writes: true, .. } | StepEffect::Counts { variable } => {
                of_lane(&mut self.writes[variable], lane).push(place)
            }
            StepEffect::Lock { lock, shared, .. } => {
                let mode = if shared { Mode::Shared } else { Mode::Exclusive };
                let now = change(lock, Some(mode));
                of_lane(self.holds.entry(lock).or_default(), lane).push((place, now));
            }
            StepEffect::Unlock { lock } => {
                let now = change(lock, None);
                of_lane(self.holds.entry(lock).or_default(), lane).push((place, now));
            }
            StepEffect::Wait { condition, mutex } => {
                let now = change(mutex, None);
                of_lane(self.holds.entry(mutex).or_default(), lane).push((place, now));
                self.waits[lane].push((place, u32::MAX, number(condition)));
            }
            StepEffect::Wake { mutex, .. } => {
                let now = change(mutex, Some(Mode::Exclusive));
                of_lane(self.holds.entry(mutex).or_default(), lane).push((place, now));
                if let Some((_, until, _)) = self.waits[lane].last_mut() {
                    *until = place;
                }
            }
            StepEffect::Take { semaphore } | StepEffect::Post { semaphore } => {
                let own = of_lane(self.tokens.entry(semaphore).or_default(), lane);
                let sum = own.last().map_or(0, |(_, sum)| *sum);
                own.push((place, sum + if matches!(effect, StepEffect::Take { .. }) { -1 } else { 1 }));
            }
            // These change nothing that a step may have to wait for.
            StepEffect::Access { writes: false, .. } | StepEffect::Refused { .. } => {}
            StepEffect::Notify { .. } | StepEffect::Empty { .. } | StepEffect::Arrive { .. } => {}
            StepEffect::Leave { .. } | StepEffect::Join { .. } | StepEffect::Keep(_) | StepEffect::Marks => {}
        }
    }

    pub(super) fn start(&self) -> State {
        let lanes = self.steps.lanes.len();
        let conditions = self.steps.conditions.len();
        let notified = if conditions == 0 { 0 } else { lanes + conditions };
        let state = State { index: vec![0; lanes].into(), notified: vec![0; notified].into() };
        self.settled(state)
    }

    /// The threads whose steps are varied.
    pub(super) fn varied(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.steps.lanes.len()).filter(|lane| self.scope.is_none_or(|two| two.contains(lane)))
    }

    /// A thread's next step in a state.
    pub(super) fn next(&self, state: &State, lane: usize) -> Option<&Step> {
        self.steps.lanes[lane].steps.get(state.index[lane] as usize)
    }

    /// What comes of a thread's next step; none if it has none or cannot make it.
    pub(super) fn make(&self, state: &State, lane: usize) -> Option<Move> {
        let step = self.next(state, lane)?;
        if !self.is_feasible(state, lane, step) {
            return None;
        }
        if !self.conforms(state, lane, step) {
            return Some(Move::Varies);
        }
        Some(Move::Conforms(self.settled(self.after(state, lane, step))))
    }

    /// Where only two threads are varied, the others run as far as they ran before.
    fn settled(&self, mut state: State) -> State {
        let Some(varied) = self.scope else { return state };
        loop {
            let next = (0..self.steps.lanes.len()).filter(|lane| !varied.contains(lane)).find_map(|lane| {
                let step = self.next(&state, lane)?;
                let goes = self.is_feasible(&state, lane, step) && self.conforms(&state, lane, step);
                goes.then_some(lane)
            });
            let Some(lane) = next else { return state };
            let Some(step) = self.next(&state, lane) else { return state };
            state = self.after(&state, lane, step);
        }
    }

    fn after(&self, state: &State, lane: usize, step: &Step) -> State {
        let mut after = state.clone();
        after.index[lane] += 1;
        let lanes = self.steps.lanes.len();
        for effect in &step.effects {
            let Some(number) =
                effect.condition().and_then(|it| self.steps.conditions.binary_search(&it).ok())
            else {
                continue;
            };
            match effect {
                StepEffect::Wait { .. } => after.notified[lane] = 0,
                StepEffect::Wake { .. } => {
                    after.notified[lane] = 0;
                    let permits = &mut after.notified[lanes + number];
                    *permits = permits.saturating_sub(1);
                }
                StepEffect::Notify { all, .. } => {
                    let waiting: Vec<usize> =
                        (0..lanes).filter(|other| self.waits_on(state, *other, number)).collect();
                    let permits = &mut after.notified[lanes + number];
                    let most = waiting.len().min(usize::from(u8::MAX)) as u8;
                    *permits = if *all { most } else { permits.saturating_add(1).min(most) };
                    waiting.into_iter().for_each(|other| after.notified[other] = 1);
                }
                // No other effect is about a condition.
                _ => {}
            }
        }
        after
    }

    fn waits_on(&self, state: &State, lane: usize, condition: usize) -> bool {
        let made = state.index[lane];
        self.waits[lane].iter().any(|(from, until, on)| *on == condition && *from < made && made <= *until)
    }

    fn is_feasible(&self, state: &State, lane: usize, step: &Step) -> bool {
        step.needs.iter().all(|(other, count)| state.index[*other] >= *count)
            && step.effects.iter().all(|effect| match *effect {
                StepEffect::Lock { tries: true, .. } => true,
                StepEffect::Lock { lock, shared, .. } => self.is_free(state, lane, lock, shared),
                StepEffect::Wake { condition, mutex } => {
                    let number = self.steps.conditions.binary_search(&condition).unwrap_or_default();
                    let may_wake = state.notified[self.steps.lanes.len() + number] > 0;
                    state.notified[lane] == 1 && may_wake && self.is_free(state, lane, mutex, false)
                }
                StepEffect::Take { semaphore } => self.tokens(state, semaphore) > 0,
                // These never block, or wait only for what `needs` lists.
                StepEffect::Access { .. } | StepEffect::Counts { .. } => true,
                StepEffect::Unlock { .. } | StepEffect::Refused { .. } => true,
                StepEffect::Wait { .. } | StepEffect::Notify { .. } | StepEffect::Post { .. } => true,
                StepEffect::Empty { .. } | StepEffect::Arrive { .. } | StepEffect::Leave { .. } => true,
                StepEffect::Join { .. } | StepEffect::Keep(_) | StepEffect::Marks => true,
            })
    }

    fn conforms(&self, state: &State, lane: usize, step: &Step) -> bool {
        step.effects.iter().all(|effect| match *effect {
            StepEffect::Access { variable, version, .. } => self.version(state, variable) == version,
            StepEffect::Lock { lock, shared, tries: true } => self.is_free(state, lane, lock, shared),
            StepEffect::Refused { lock } => !self.is_free(state, lane, lock, false),
            StepEffect::Empty { semaphore } => self.tokens(state, semaphore) <= 0,
            // From these a thread learns nothing that depends on the order.
            StepEffect::Counts { .. } | StepEffect::Lock { tries: false, .. } => true,
            StepEffect::Unlock { .. } => true,
            StepEffect::Wait { .. } | StepEffect::Wake { .. } | StepEffect::Notify { .. } => true,
            StepEffect::Take { .. } | StepEffect::Post { .. } | StepEffect::Arrive { .. } => true,
            StepEffect::Leave { .. } | StepEffect::Join { .. } | StepEffect::Keep(_) | StepEffect::Marks => {
                true
            }
        })
    }

    fn version(&self, state: &State, variable: usize) -> u32 {
        let made = |(lane, places): &(usize, Vec<u32>)| {
            places.partition_point(|place| *place < state.index[*lane]) as u32
        };
        self.writes[variable].iter().map(made).sum()
    }

    fn is_free(&self, state: &State, lane: usize, lock: u64, shared: bool) -> bool {
        let wanted = if shared { Mode::Shared } else { Mode::Exclusive };
        self.holds.get(&lock).into_iter().flatten().filter(|(other, _)| *other != lane).all(
            |(other, changes)| {
                let made = changes.partition_point(|(place, _)| *place < state.index[*other]);
                let held = made.checked_sub(1).and_then(|last| changes[last].1);
                held.is_none_or(|mode| !mode.excludes(wanted))
            },
        )
    }

    fn tokens(&self, state: &State, semaphore: u64) -> i64 {
        let changes = self.tokens.get(&semaphore).into_iter().flatten();
        let change = |(lane, sums): &(usize, Vec<(u32, i64)>)| {
            let made = sums.partition_point(|(place, _)| *place < state.index[*lane]);
            made.checked_sub(1).map_or(0, |last| sums[last].1)
        };
        let first = self.steps.tokens.get(&semaphore).map_or(0, |count| *count as i64);
        first + changes.map(change).sum::<i64>()
    }
}

fn of_lane<T>(list: &mut Vec<(usize, Vec<T>)>, lane: usize) -> &mut Vec<T> {
    let place = list.iter().position(|(it, _)| *it == lane).unwrap_or_else(|| {
        list.push((lane, Vec::new()));
        list.len() - 1
    });
    &mut list[place].1
}
