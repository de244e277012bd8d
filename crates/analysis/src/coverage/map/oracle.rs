//! Predicted patterns against the truth: all interleavings of small generated programs without branches.

use std::collections::{BTreeSet, HashSet};

use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind};

use super::*;
use crate::locks::{LockSets, Mode};

const SEED: u64 = 20_230_101;
const PROGRAMS: u64 = 400;
/// Programs with more interleavings are left out.
const MOST_EXECUTIONS: usize = 600;
const LOCKS: u64 = 2;
const VARIABLE: u64 = 64;
const MOST_ACCESSES: u64 = 3;

/// A pattern by its number and its places.
type Shown = (u8, Vec<u64>);

/// The events of each thread, to be put into some order; the first thread is main, and creates the others.
struct Program {
    threads: Vec<Vec<Event>>,
}

impl Program {
    fn generate(rng: &mut Rng) -> Program {
        let mut threads: Vec<Vec<Event>> = vec![Vec::new(); 3];
        for child in 1..3 {
            add_accesses(rng, 1, &mut threads[0]);
            threads[0].push(Event { value: child, kind: EventKind::Create as u8, ..Event::default() });
            add_accesses(rng, MOST_ACCESSES, &mut threads[child as usize]);
        }
        for child in 1..3 {
            threads[0].push(Event { value: child, kind: EventKind::Join as u8, ..Event::default() });
            add_accesses(rng, 1, &mut threads[0]);
        }
        for (number, events) in threads.iter_mut().enumerate() {
            for (place, event) in events.iter_mut().enumerate() {
                (event.thread, event.pc) = (ThreadId(number as u16), (100 * (number + 1) + place) as u64);
            }
        }
        Program { threads }
    }
}

/// Up to so many accesses, some of them in critical sections.
fn add_accesses(rng: &mut Rng, most: u64, events: &mut Vec<Event>) {
    let mut left = rng.below(most + 1);
    while left > 0 {
        let lock = Some(1 + rng.below(LOCKS)).filter(|_| rng.below(2) == 0);
        let step = |kind: EventKind, addr| Event { addr, size: 8, kind: kind as u8, ..Event::default() };
        let is_shared = rng.below(3) == 0;
        let take = if is_shared { EventKind::ReadLock } else { EventKind::Lock };
        events.extend(lock.map(|lock| step(take, lock)));
        for _ in 0..1 + rng.below(left) {
            let kinds = [EventKind::Read, EventKind::Write, EventKind::AtomicUpdate];
            events.push(step(kinds[rng.below(3) as usize], VARIABLE));
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
        _ => true,
    }
}

/// Ends a begun execution in all ways, or in more than are wanted.
fn all_ends(program: &Program, at: &mut [usize], made: &mut Vec<Event>, found: &mut Vec<Vec<Event>>) {
    let mut is_over = true;
    if found.len() > MOST_EXECUTIONS {
        return;
    }
    for thread in 0..program.threads.len() {
        if is_enabled(program, at, thread, made) {
            is_over = false;
            made.push(program.threads[thread][at[thread]]);
            at[thread] += 1;
            all_ends(program, at, made, found);
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
            if let Change::Access(access) = change {
                matcher.observe(&access, &mut found);
            }
        }
    }
    found.iter().map(|it| (it.pattern, it.accesses().iter().map(|step| step.site.0).collect())).collect()
}

#[test]
fn all_that_some_interleaving_shows_is_predicted_from_any_execution() {
    let (mut feasible, mut infeasible, mut estimated) = (0, 0, 0);
    for number in 0..PROGRAMS {
        let mut rng = Rng::new(SEED + number);
        let program = Program::generate(&mut rng);
        let mut executions: Vec<Vec<Event>> = Vec::new();
        let (mut at, mut made) = (vec![0; program.threads.len()], Vec::new());
        all_ends(&program, &mut at, &mut made, &mut executions);
        if executions.len() > MOST_EXECUTIONS {
            continue;
        }
        let truth: BTreeSet<Shown> = executions.iter().flat_map(|it| shown(it)).collect();
        let one = &executions[rng.below(executions.len() as u64) as usize];
        let mut coverage = MapCoverage::default();
        coverage.observe(&Seen::plain(one));
        let listed = coverage.uncovered_patterns().expect("a list");
        let listed: BTreeSet<Shown> = listed.into_iter().map(|it| (it.pattern, it.places)).collect();
        let own: BTreeSet<Shown> = shown(one).into_iter().collect();
        assert!(own.is_disjoint(&listed), "seed {}: what was shown is not listed", SEED + number);
        let predicted: BTreeSet<Shown> = own.union(&listed).cloned().collect();
        let missing: Vec<_> = truth.difference(&predicted).collect();
        assert!(missing.is_empty(), "seed {}: {missing:?} of {:?}", SEED + number, program.threads);
        feasible += truth.len();
        infeasible += predicted.difference(&truth).count();
        estimated += coverage.total().number();
        // Whatever else is seen, nothing feasible is left then.
        executions.iter().for_each(|it| coverage.observe(&Seen::plain(it)));
        let left =
            coverage.uncovered_patterns().expect("a list").into_iter().map(|it| (it.pattern, it.places));
        assert!(left.into_iter().all(|it| !truth.contains(&it)), "seed {}", SEED + number);
    }
    println!("{feasible} feasible patterns; {infeasible} more predicted; {estimated} by the formula");
    assert!(feasible > 3000 && infeasible * 4 < feasible, "{feasible} feasible, {infeasible} not");
    assert!((feasible + infeasible) as u64 * 10 < estimated, "far fewer than the formula says");
}
