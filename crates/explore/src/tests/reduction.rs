//! The reduction leaves out no outcome: compared with every interleaving of made-up programs, whose states come together.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use threadbare_sched::Rng;
use threadbare_target::Execution;
use threadbare_trace::{Event, EventKind, Failure, FailureKind, Outcome, ThreadId};
use threadbare_wire::DecisionRecord;

use crate::strategies::reduction::{Irreducible, Reduction};

/// What a thread does. It has one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Load(u64),
    /// Stores one more than the register holds.
    Store(u64),
    Add(u64),
    Lock(u64),
    /// No step, but part of the one before.
    Unlock(u64),
    /// Passes over the next step if the register holds an even number; no step either.
    SkipIfEven,
    Join(usize),
}

/// The state of a program.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
struct World {
    places: Vec<usize>,
    registers: Vec<u64>,
    memory: BTreeMap<u64, u64>,
    holders: BTreeMap<u64, usize>,
}

struct Machine<'p> {
    program: &'p [Vec<Step>],
    world: World,
    events: Vec<Event>,
}

impl<'p> Machine<'p> {
    fn new(program: &'p [Vec<Step>]) -> Machine<'p> {
        let world =
            World { places: vec![0; program.len()], registers: vec![0; program.len()], ..World::default() };
        Machine { program, world, events: Vec::new() }
    }

    fn next(&self, thread: usize) -> Option<Step> {
        self.program[thread].get(self.world.places[thread]).copied()
    }

    fn enabled(&self) -> Vec<usize> {
        let is_enabled = |thread: &usize| match self.next(*thread) {
            None => false,
            Some(Step::Lock(lock)) => !self.world.holders.contains_key(&lock),
            Some(Step::Join(other)) => self.next(other).is_none(),
            Some(_) => true,
        };
        (0..self.program.len()).filter(is_enabled).collect()
    }

    fn note(&mut self, thread: usize, kind: EventKind, addr: u64, value: u64) {
        let (thread, kind) = (ThreadId(thread as u16), kind as u8);
        self.events.push(Event { thread, kind, addr, value, size: 4, ..Event::default() });
    }

    /// One step, with what belongs to it.
    fn step(&mut self, thread: usize) {
        self.make(thread);
        while let Some(Step::Unlock(_) | Step::SkipIfEven) = self.next(thread) {
            self.make(thread);
        }
        if self.next(thread).is_none() && thread != 0 {
            self.note(thread, EventKind::Exit, 0, 0);
        }
    }

    fn make(&mut self, thread: usize) {
        let Some(step) = self.next(thread) else { return };
        self.world.places[thread] += 1;
        let register = self.world.registers[thread];
        match step {
            Step::Load(place) => {
                self.world.registers[thread] = *self.world.memory.entry(place).or_default();
                self.note(thread, EventKind::AtomicRead, place, 0);
            }
            Step::Store(place) => {
                self.world.memory.insert(place, register + 1);
                self.note(thread, EventKind::AtomicWrite, place, 0);
            }
            Step::Add(place) => {
                let value = self.world.memory.entry(place).or_default();
                self.world.registers[thread] = *value;
                *value += 1;
                self.note(thread, EventKind::AtomicUpdate, place, 0);
            }
            Step::Lock(lock) => {
                self.world.holders.insert(lock, thread);
                self.note(thread, EventKind::Lock, lock, 1);
            }
            Step::Unlock(lock) => {
                self.world.holders.remove(&lock);
                self.note(thread, EventKind::Unlock, lock, 0);
            }
            Step::SkipIfEven => self.world.places[thread] += usize::from(register.is_multiple_of(2)),
            Step::Join(other) => self.note(thread, EventKind::Join, 0, other as u64),
        }
    }

    fn state(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.world.hash(&mut hasher);
        hasher.finish()
    }
}

/// Makes an execution that begins like this, and then mostly stays with whoever runs.
fn execute(program: &[Vec<Step>], prefix: &[usize], rng: &mut Rng) -> (Execution, World) {
    let mut machine = Machine::new(program);
    let (mut decisions, mut current) = (Vec::new(), 0);
    loop {
        let enabled = machine.enabled();
        let chosen = match enabled[..] {
            [] => break,
            [only] => only,
            _ => {
                let stays = enabled.contains(&current) && rng.below(8) != 0;
                let habit = if stays { current } else { enabled[rng.below(enabled.len() as u64) as usize] };
                let chosen = prefix.get(decisions.len()).copied().unwrap_or(habit);
                decisions.push(DecisionRecord {
                    enabled: enabled.iter().fold(0, |mask, thread| mask | 1 << thread),
                    chosen: ThreadId(chosen as u16),
                    state: machine.state(),
                    events: machine.events.len() as u64,
                    kind: EventKind::Fence as u8,
                    ..DecisionRecord::default()
                });
                chosen
            }
        };
        machine.step(chosen);
        current = chosen;
    }
    assert!((0..program.len()).all(|thread| machine.next(thread).is_none()), "no program here blocks");
    let nothing = Failure {
        kind: FailureKind::Exit,
        thread: ThreadId::MAIN,
        message: String::new(),
        stack: Vec::new(),
    };
    let run = Execution {
        outcome: Outcome::Passed,
        events: machine.events,
        decisions,
        threads: program.len() as u32,
        ..Execution::before_threads(nothing, String::new())
    };
    (run, machine.world)
}

/// Every way for a program to end, and in how many states it can be on the way.
fn all_outcomes(program: &[Vec<Step>]) -> (BTreeSet<World>, usize) {
    let (mut outcomes, mut seen) = (BTreeSet::new(), HashSet::new());
    let mut open = vec![Machine::new(program).world];
    while let Some(world) = open.pop() {
        let machine = Machine { program, world, events: Vec::new() };
        let enabled = machine.enabled();
        if enabled.is_empty() {
            outcomes.insert(machine.world.clone());
        }
        for thread in enabled {
            let mut after = Machine { program, world: machine.world.clone(), events: Vec::new() };
            after.step(thread);
            if seen.insert(after.world.clone()) {
                open.push(after.world);
            }
        }
    }
    (outcomes, seen.len())
}

/// The same as the reduction has it, and how many executions it takes.
fn reduced_outcomes(
    program: &[Vec<Step>],
    rng: &mut Rng,
) -> Result<(BTreeSet<World>, usize, usize), Irreducible> {
    let (mut reduction, mut executions) = (Reduction::default(), 0);
    let (mut outcomes, mut paths, mut tried) = (BTreeSet::new(), HashMap::new(), HashSet::new());
    let mut open = vec![Vec::new()];
    while let Some(prefix) = open.pop() {
        let (run, world) = execute(program, &prefix, rng);
        executions += 1;
        outcomes.insert(world);
        let chosen: Vec<usize> = run.decisions.iter().map(|it| it.chosen.index()).collect();
        for (at, decision) in run.decisions.iter().enumerate() {
            paths.entry(decision.state).or_insert_with(|| chosen[..at].to_vec());
            tried.insert((decision.state, decision.chosen.index()));
        }
        for request in reduction.take_in(&run)? {
            for thread in (0..program.len()).filter(|thread| request.threads & 1 << thread != 0) {
                if tried.insert((request.state, thread)) {
                    let mut path: Vec<usize> = paths[&request.state].clone();
                    path.push(thread);
                    open.push(path);
                }
            }
        }
    }
    assert!(reduction.is_acyclic());
    Ok((outcomes, paths.len(), executions))
}

/// A few threads that use a few variables, some under locks, and main joins them in the end.
fn made_up(rng: &mut Rng) -> Vec<Vec<Step>> {
    let threads = 2 + rng.below(2) as usize;
    let variables = 1 + rng.below(3);
    let mut program: Vec<Vec<Step>> = (0..threads).map(|_| Vec::new()).collect();
    for steps in &mut program {
        for _ in 0..1 + rng.below(3) {
            let mut place = || 64 + 8 * rng.below(variables);
            let (one, other) = (place(), place());
            match rng.below(7) {
                0 => steps.extend([Step::Load(one), Step::Store(other)]),
                1 => steps.push(Step::Add(one)),
                2 => steps.push(Step::Load(one)),
                3 => steps.extend([Step::Load(one), Step::SkipIfEven, Step::Add(other)]),
                4 => steps.extend([Step::Lock(1000), Step::Load(one), Step::Store(one), Step::Unlock(1000)]),
                5 => steps.extend([Step::Lock(1000 + 8 * rng.below(2)), Step::Add(other)]),
                _ => steps.extend([Step::Lock(1000), Step::Lock(1008), Step::Add(one), Step::Unlock(1000)]),
            }
            // Whoever holds a lock still gives it back, the last one first.
            let mut held: Vec<u64> = Vec::new();
            for step in steps.iter() {
                match step {
                    Step::Lock(lock) => held.push(*lock),
                    Step::Unlock(lock) => held.retain(|it| it != lock),
                    _ => {}
                }
            }
            steps.extend(held.into_iter().rev().map(Step::Unlock));
        }
    }
    let joins: Vec<Step> = (1..threads).map(Step::Join).collect();
    program[0].extend(joins);
    program[0].push(Step::Load(64));
    program
}

#[test]
fn no_outcome_of_a_made_up_program_is_left_out() {
    let mut rng = Rng::new(11);
    let (mut all_states, mut reduced_states) = (0, 0);
    for case in 0..300 {
        let program = made_up(&mut rng);
        let (expected, states) = all_outcomes(&program);
        let (found, reduced, _) = reduced_outcomes(&program, &mut rng).expect("nothing here is unknown");
        assert_eq!(found, expected, "case {case}: {program:?}");
        all_states += states;
        reduced_states += reduced;
    }
    assert!(reduced_states * 2 < all_states, "{reduced_states} of {all_states}");
}

#[test]
fn threads_that_share_nothing_need_hardly_more_than_one_execution() {
    let program: Vec<Vec<Step>> = (0..4).map(|thread| vec![Step::Add(64 + 8 * thread); 5]).collect();
    let (outcomes, _, executions) = reduced_outcomes(&program, &mut Rng::new(1)).unwrap();
    // What is not counted after the last decision is taken to conflict.
    assert!(outcomes.len() == 1 && executions <= 4, "{executions}");
}

#[test]
fn plain_accesses_that_race_are_left_to_the_whole_search() {
    let program = vec![vec![Step::Add(64), Step::Join(1)], vec![Step::Load(64)]];
    let (mut run, _) = execute(&program, &[], &mut Rng::new(1));
    assert!(Reduction::default().take_in(&run).is_ok());
    for event in &mut run.events {
        if event.kind() == Some(EventKind::AtomicRead) {
            event.kind = EventKind::Read as u8;
        }
    }
    assert!(Reduction::default().take_in(&run).is_err());
}
