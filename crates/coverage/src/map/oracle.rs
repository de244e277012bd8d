//! Predicted patterns against the truth: all interleavings of small generated programs without branches.

use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;

use threadbare_happens_before::{LockSets, Mode};
use threadbare_patterns::Occurrence;
use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind};

use super::*;

const SEED: u64 = 20_230_101;
const PROGRAMS: u64 = 400;
const LOCKS: u64 = 2;
const VARIABLES: [u64; 2] = [64, 128];

/// A pattern by its number, its variables and its places.
type Shown = (u8, Vec<u64>, Vec<u64>);

/// What programs are like.
struct Ingredients {
    variables: u64,
    /// How often main, here and there, and each of the other threads access them, at least and at most.
    accesses: [RangeInclusive<u64>; 2],
    /// Programs with more interleavings are left out.
    executions: usize,
    /// How many places a thread has: where there are few, it comes to them again and again.
    places: usize,
}

/// The events of each thread, to be put into some order; the first thread is main, and creates the others.
struct Program {
    threads: Vec<Vec<Event>>,
}

impl Program {
    fn generate(rng: &mut Rng, with: &Ingredients) -> Program {
        let mut threads: Vec<Vec<Event>> = vec![Vec::new(); 3];
        for child in 1..3 {
            add_accesses(rng, with, &with.accesses[0], &mut threads[0]);
            threads[0].push(Event { value: child, kind: EventKind::Create as u8, ..Event::default() });
            add_accesses(rng, with, &with.accesses[1], &mut threads[child as usize]);
        }
        for child in 1..3 {
            threads[0].push(Event { value: child, kind: EventKind::Join as u8, ..Event::default() });
            add_accesses(rng, with, &with.accesses[0], &mut threads[0]);
        }
        for (number, events) in threads.iter_mut().enumerate() {
            for (place, event) in events.iter_mut().enumerate() {
                (event.thread, event.pc) =
                    (ThreadId(number as u16), (100 * (number + 1) + place % with.places) as u64);
            }
        }
        Program { threads }
    }
}

/// Up to so many accesses, some of them in critical sections.
fn add_accesses(rng: &mut Rng, with: &Ingredients, accesses: &RangeInclusive<u64>, events: &mut Vec<Event>) {
    let mut left = accesses.start() + rng.below(accesses.end() - accesses.start() + 1);
    while left > 0 {
        let lock = Some(1 + rng.below(LOCKS)).filter(|_| rng.below(2) == 0);
        let step = |kind: EventKind, addr| Event { addr, size: 8, kind: kind as u8, ..Event::default() };
        let is_shared = rng.below(3) == 0;
        let take = if is_shared { EventKind::ReadLock } else { EventKind::Lock };
        events.extend(lock.map(|lock| step(take, lock)));
        for _ in 0..1 + rng.below(left) {
            let kinds = [EventKind::Read, EventKind::Write, EventKind::AtomicUpdate];
            let variable = VARIABLES[rng.below(with.variables) as usize];
            events.push(step(kinds[rng.below(3) as usize], variable));
            left -= 1;
        }
        events.extend(lock.map(|lock| step(EventKind::Unlock, lock)));
    }
}

/// Whether a thread can make its next step after these.
fn is_enabled(program: &Program, at: &[usize], thread: usize, made: &[Event]) -> bool {
    let Some(next) = program.threads[thread].get(at[thread]) else { return false };
    let is_born = |event: &Event| event.kind() == Some(EventKind::Create) && event.value == thread as u64;
    if thread > 0 && !made.iter().any(is_born) {
        return false;
    }
    let mut locks = LockSets::default();
    for (index, event) in made.iter().enumerate() {
        locks.observe(index, event, event.kind().expect("a kind"));
    }
    let mut is_free = |excludes: fn(Mode) -> bool| {
        (0..program.threads.len()).all(|other| {
            let held = locks.held(ThreadId(other as u16));
            !held.iter().any(|it| it.lock == next.addr && excludes(it.mode))
        })
    };
    match next.kind() {
        Some(EventKind::Lock) => is_free(|_| true),
        Some(EventKind::ReadLock) => is_free(|mode| mode == Mode::Exclusive),
        Some(EventKind::Join) => {
            let child = next.value as usize;
            at[child] == program.threads[child].len()
        }
        // Nothing else in the oracle's programs blocks.
        _ => true,
    }
}

/// Ends a begun execution in all ways, or in more than are wanted.
fn all_ends(
    program: &Program,
    at: &mut [usize],
    made: &mut Vec<Event>,
    most: usize,
    found: &mut Vec<Vec<Event>>,
) {
    let mut is_over = true;
    if found.len() > most {
        return;
    }
    for thread in 0..program.threads.len() {
        if is_enabled(program, at, thread, made) {
            is_over = false;
            made.push(program.threads[thread][at[thread]]);
            at[thread] += 1;
            all_ends(program, at, made, most, found);
            at[thread] -= 1;
            made.pop();
        }
    }
    if is_over {
        found.push(made.clone());
    }
}

/// The patterns in an execution.
fn shown(events: &[Event]) -> HashSet<Shown> {
    let mut objects = Objects::new(Vec::new(), &Limits::default());
    let (mut matcher, mut changes, mut found) = (Matcher::default(), Vec::new(), Vec::new());
    for (index, event) in events.iter().enumerate() {
        objects.observe(index, event, &mut changes);
        for change in changes.drain(..) {
            if let VariableChange::Access(access) = change {
                matcher.observe(&access, &mut found);
            }
        }
    }
    let shown = |it: &Occurrence| {
        let mut variables: Vec<u64> = it.accesses().iter().map(|step| events[step.event].addr).collect();
        if variables.iter().all(|it| *it == variables[0]) {
            variables.truncate(1);
        } else {
            let other = variables.iter().find(|it| **it != variables[0]).copied();
            variables = [Some(variables[0]), other].into_iter().flatten().collect();
        }
        (it.pattern, variables, it.accesses().iter().map(|step| step.site.0).collect())
    };
    found.iter().map(shown).collect()
}

fn listed(coverage: &MapCoverage) -> BTreeSet<Shown> {
    let list = coverage.uncovered_patterns().expect("a list");
    assert!(!list.more_of_one && !list.more_of_two, "nothing is cut of programs as small as these");
    list.patterns.into_iter().map(|it| (it.pattern, it.addresses, it.places)).collect()
}

/// How many patterns some interleaving shows, how many are predicted beyond these, and how many the formula has.
#[derive(Default, Debug)]
struct Tally {
    feasible: [usize; 2],
    infeasible: [usize; 2],
    estimated: u64,
}

/// Of one variable and of two.
fn counts<'a>(patterns: impl Iterator<Item = &'a Shown>) -> [usize; 2] {
    patterns.fold([0; 2], |mut counts, it| {
        counts[it.1.len() - 1] += 1;
        counts
    })
}

/// Nothing that some interleaving shows is missed, whichever execution was seen.
fn compared(with: &Ingredients) -> Tally {
    let mut tally = Tally::default();
    for number in 0..PROGRAMS {
        let mut rng = Rng::new(SEED + number);
        let program = Program::generate(&mut rng, with);
        let mut executions: Vec<Vec<Event>> = Vec::new();
        let (mut at, mut made) = (vec![0; program.threads.len()], Vec::new());
        all_ends(&program, &mut at, &mut made, with.executions, &mut executions);
        if executions.len() > with.executions {
            continue;
        }
        let truth: BTreeSet<Shown> = executions.iter().flat_map(|it| shown(it)).collect();
        let one = &executions[rng.below(executions.len() as u64) as usize];
        let mut coverage = MapCoverage::default();
        coverage.observe(&ObservedExecution::plain(one));
        let left = listed(&coverage);
        let own: BTreeSet<Shown> = shown(one).into_iter().collect();
        assert!(own.is_disjoint(&left), "seed {}: what was shown is not listed", SEED + number);
        let predicted: BTreeSet<Shown> = own.union(&left).cloned().collect();
        let missing: Vec<_> = truth.difference(&predicted).collect();
        assert!(missing.is_empty(), "seed {}: {missing:?} of {:?}", SEED + number, program.threads);
        for (sum, count) in tally.feasible.iter_mut().zip(counts(truth.iter())) {
            *sum += count;
        }
        for (sum, count) in tally.infeasible.iter_mut().zip(counts(predicted.difference(&truth))) {
            *sum += count;
        }
        tally.estimated += coverage.total().number();
        // Whatever else is seen, nothing feasible is left then.
        executions.iter().for_each(|it| coverage.observe(&ObservedExecution::plain(it)));
        assert!(listed(&coverage).is_disjoint(&truth), "seed {}", SEED + number);
    }
    println!("{tally:?}");
    tally
}

#[test]
fn all_that_some_interleaving_shows_of_one_variable_is_predicted_from_any_execution() {
    let with = Ingredients { variables: 1, accesses: [0..=1, 0..=3], executions: 600, places: usize::MAX };
    let Tally { feasible: [feasible, _], infeasible: [infeasible, _], estimated } = compared(&with);
    assert!(feasible > 3000 && infeasible * 4 < feasible, "{feasible} feasible, {infeasible} not");
    assert!((feasible + infeasible) as u64 * 10 < estimated, "far fewer than the formula says");
}

const OF_TWO: Ingredients =
    Ingredients { variables: 2, accesses: [0..=0, 2..=4], executions: 3000, places: usize::MAX };

#[test]
fn all_that_some_interleaving_shows_of_two_variables_is_predicted_from_any_execution() {
    let Tally { feasible: [_, feasible], infeasible: [_, infeasible], .. } = compared(&OF_TWO);
    assert!(feasible > 700 && infeasible * 4 < feasible, "{feasible} feasible, {infeasible} not");
}

#[test]
fn what_main_does_before_and_after_its_threads_is_distinguished() {
    let with = Ingredients { accesses: [0..=2, 1..=2], ..OF_TWO };
    let Tally { feasible: [_, feasible], infeasible: [_, infeasible], .. } = compared(&with);
    assert!(feasible > 150 && infeasible * 4 < feasible, "{feasible} feasible, {infeasible} not");
}

#[test]
fn places_that_a_thread_comes_to_again_and_again_hide_nothing() {
    let Tally { feasible: [_, feasible], infeasible: [_, infeasible], .. } =
        compared(&Ingredients { places: 2, ..OF_TWO });
    assert!(feasible > 600 && infeasible * 4 < feasible, "{feasible} feasible, {infeasible} not");
}
