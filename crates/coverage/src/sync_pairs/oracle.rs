//! Estimates against the truth: all interleavings of small generated programs without branches.

use std::collections::HashSet;

use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind, ThreadId};

use super::*;

const SEED: u64 = 20_120_715;
const PROGRAMS: u64 = 3000;
const LOCKS: usize = 3;
const MOST_ACTIONS: usize = 4;

fn below(rng: &mut Rng, bound: usize) -> usize {
    rng.below(bound as u64) as usize
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Step {
    Take(usize),
    Read(usize),
    Give(usize),
    Create(usize),
    Join(usize),
}

/// The steps of each thread; the first one is main. Locks are re-entrant.
#[derive(Debug)]
struct Program {
    threads: Vec<Vec<Step>>,
}

impl Program {
    fn generate(rng: &mut Rng) -> Program {
        let children = 1 + below(rng, 2);
        let mut threads = vec![Vec::new()];
        for child in 1..=children {
            add_sections(rng, 2, &mut threads[0]);
            threads[0].push(Step::Create(child));
            let mut steps = Vec::new();
            add_sections(rng, MOST_ACTIONS, &mut steps);
            threads.push(steps);
        }
        add_sections(rng, 2, &mut threads[0]);
        for child in 1..=children {
            if below(rng, 2) == 0 {
                threads[0].push(Step::Join(child));
                add_sections(rng, 1, &mut threads[0]);
            }
        }
        Program { threads }
    }
}

/// Up to so many lock actions, in critical sections one after the other or in each other.
fn add_sections(rng: &mut Rng, most: usize, steps: &mut Vec<Step>) {
    let mut left = below(rng, most + 1);
    let mut open: Vec<usize> = Vec::new();
    while left > 0 || !open.is_empty() {
        if left > 0 && (open.is_empty() || below(rng, 2) == 0) {
            let lock = below(rng, LOCKS);
            // Whoever reads may not write meanwhile, and the other way round; so lock 0 is only read or taken alone
            // where it is not held.
            let is_held = open.contains(&lock);
            let reads = lock == 0 && !is_held && below(rng, 2) == 0;
            if lock == 0 && is_held {
                continue;
            }
            steps.push(if reads { Step::Read(lock) } else { Step::Take(lock) });
            open.push(lock);
            left -= 1;
        } else if let Some(lock) = open.pop() {
            steps.push(Step::Give(lock));
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct State {
    at: Vec<usize>,
    alive: Vec<bool>,
    /// Who holds each lock, once for each time; readers are several.
    holders: [Vec<usize>; LOCKS],
    is_read: [bool; LOCKS],
    last: [Option<u64>; LOCKS],
}

fn place(thread: usize, index: usize) -> u64 {
    (100 * (thread + 1) + index) as u64
}

impl State {
    fn start(program: &Program) -> State {
        let count = program.threads.len();
        let alive = (0..count).map(|thread| thread == 0).collect();
        State { at: vec![0; count], alive, ..State::default() }
    }

    fn next<'a>(&self, program: &'a Program, thread: usize) -> Option<&'a Step> {
        program.threads[thread].get(self.at[thread]).filter(|_| self.alive[thread])
    }

    fn is_enabled(&self, program: &Program, thread: usize) -> bool {
        match self.next(program, thread) {
            None => false,
            Some(Step::Take(lock)) => self.holders[*lock].iter().all(|holder| *holder == thread),
            Some(Step::Read(lock)) => self.holders[*lock].is_empty() || self.is_read[*lock],
            Some(Step::Join(child)) => self.at[*child] == program.threads[*child].len(),
            Some(_) => true,
        }
    }

    /// Makes a thread's next step; returns the pair that it shows.
    fn step(&mut self, program: &Program, thread: usize) -> Option<PlacePair> {
        let step = *self.next(program, thread)?;
        let second = place(thread, self.at[thread]);
        self.at[thread] += 1;
        match step {
            Step::Take(lock) | Step::Read(lock) => {
                self.holders[lock].push(thread);
                self.holders[lock].sort_unstable();
                self.is_read[lock] = matches!(step, Step::Read(_));
                return self.last[lock].replace(second).map(|first| PlacePair { first, second });
            }
            Step::Give(lock) => {
                let held = self.holders[lock].iter().position(|holder| *holder == thread);
                held.map(|held| self.holders[lock].remove(held));
            }
            Step::Create(child) => self.alive[child] = true,
            Step::Join(_) => {}
        }
        None
    }
}

/// The pairs that some interleaving shows.
fn feasible(program: &Program) -> BTreeSet<PlacePair> {
    let mut pairs = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![State::start(program)];
    while let Some(state) = open.pop() {
        for thread in (0..program.threads.len()).filter(|thread| state.is_enabled(program, *thread)) {
            let mut after = state.clone();
            pairs.extend(after.step(program, thread));
            if seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    pairs
}

/// The events of a random run, if it comes to its end.
fn run(program: &Program, rng: &mut Rng) -> Option<Vec<Event>> {
    let mut state = State::start(program);
    let mut events = Vec::new();
    loop {
        let count = program.threads.len();
        let enabled: Vec<usize> = (0..count).filter(|thread| state.is_enabled(program, *thread)).collect();
        if enabled.is_empty() {
            let is_done = (0..count).all(|thread| state.at[thread] == program.threads[thread].len());
            return is_done.then_some(events);
        }
        let thread = enabled[below(rng, enabled.len())];
        let (kind, addr, value) = match *state.next(program, thread)? {
            Step::Take(lock) => (EventKind::Lock, lock + 1, 0),
            Step::Read(lock) => (EventKind::ReadLock, lock + 1, 0),
            Step::Give(lock) => (EventKind::Unlock, lock + 1, 0),
            Step::Create(child) => (EventKind::Create, 0, child),
            Step::Join(child) => (EventKind::Join, 0, child),
        };
        events.push(Event {
            thread: ThreadId(thread as u16),
            pc: place(thread, state.at[thread]),
            addr: addr as u64,
            value: value as u64,
            kind: kind as u8,
            ..Event::default()
        });
        state.step(program, thread);
    }
}

#[test]
fn all_that_some_interleaving_shows_is_estimated_from_any_run() {
    let (mut compared, mut true_pairs, mut infeasible) = (0, 0, [0, 0]);
    for number in 0..PROGRAMS {
        let mut rng = Rng::new(SEED + number);
        let program = Program::generate(&mut rng);
        let Some(events) = (0..8).find_map(|_| run(&program, &mut rng)) else { continue };
        let seen = ObservedExecution::plain(&events);
        let truth = feasible(&program);
        assert!(shown(&seen).is_subset(&truth), "seed {}: {program:?}", SEED + number);
        let paper = estimate(&seen, Precision::Paper);
        let refined = estimate(&seen, Precision::Refined);
        assert!(truth.is_subset(&refined), "seed {}: {program:?}\n{truth:?}\n{refined:?}", SEED + number);
        assert!(refined.is_subset(&paper), "seed {}: {program:?}", SEED + number);
        compared += 1;
        true_pairs += truth.len();
        infeasible[0] += paper.difference(&truth).count();
        infeasible[1] += refined.difference(&truth).count();
    }
    println!(
        "{compared} programs, {true_pairs} feasible pairs; infeasible ones: {} by the paper, {} refined",
        infeasible[0], infeasible[1]
    );
    assert!(compared > PROGRAMS / 2 && true_pairs > 10_000);
    assert!(infeasible[1] < infeasible[0]);
}
