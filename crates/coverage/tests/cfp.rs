//! Concurrent function pairs, against every interleaving of small generated programs.

use std::collections::{BTreeSet, HashSet};

use threadbare_coverage::cfp::{
    CallInstance, CallLock, ExecutionCalls, FunctionPair, OrderClocks, concurrent_pairs, inherit, select,
};
use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind, ThreadId};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Enter(u64),
    Leave,
    Lock(u64),
    ReadLock(u64),
    Unlock(u64),
    Create(usize),
    Join(usize),
    /// All threads but main wait for each other here.
    Barrier,
}

type Program = Vec<Vec<Step>>;

const BARRIER: u64 = 99;

/// The state of an execution.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    places: Vec<usize>,
    begun: Vec<bool>,
    held: Vec<(usize, CallLock)>,
    inside: Vec<Vec<u64>>,
    /// Who has arrived and not left: an odd number says that a thread is waiting.
    arrived: Vec<bool>,
    round: u64,
}

impl State {
    fn new(program: &Program) -> State {
        let count = program.len();
        let mut begun = vec![false; count];
        begun[0] = true;
        State {
            places: vec![0; count],
            begun,
            held: Vec::new(),
            inside: vec![Vec::new(); count],
            arrived: vec![false; count],
            round: 0,
        }
    }

    fn next(&self, program: &Program, thread: usize) -> Option<Step> {
        if !self.begun[thread] || self.arrived[thread] {
            return None;
        }
        let step = *program[thread].get(self.places[thread])?;
        let free = |lock: u64, shared: bool| {
            !self.held.iter().any(|(_, hold)| hold.lock == lock && !(shared && hold.shared))
        };
        let possible = match step {
            Step::Lock(lock) => free(lock, false),
            Step::ReadLock(lock) => free(lock, true),
            Step::Join(other) => self.places[other] == program[other].len(),
            _ => true,
        };
        possible.then_some(step)
    }

    /// Makes the step, and says what was seen of it.
    fn make(&mut self, thread: usize, step: Step, seen: &mut impl FnMut(usize, EventKind, u64, u64)) {
        self.places[thread] += 1;
        match step {
            Step::Enter(function) => self.inside[thread].push(function),
            Step::Leave => drop(self.inside[thread].pop()),
            Step::Lock(lock) => self.held.push((thread, CallLock { lock, shared: false })),
            Step::ReadLock(lock) => self.held.push((thread, CallLock { lock, shared: true })),
            Step::Unlock(lock) => self.held.retain(|(who, hold)| *who != thread || hold.lock != lock),
            Step::Create(other) => {
                self.begun[other] = true;
                seen(thread, EventKind::Create, 0, other as u64);
            }
            Step::Join(other) => seen(thread, EventKind::Join, 0, other as u64),
            Step::Barrier => {
                seen(thread, EventKind::BarrierArrive, BARRIER, 0);
                self.arrived[thread] = true;
                if self.arrived[1..].iter().all(|arrived| *arrived) {
                    self.round += 1;
                    let others = (1..self.arrived.len()).filter(|other| *other != thread);
                    for leaver in std::iter::once(thread).chain(others) {
                        seen(leaver, EventKind::BarrierLeave, BARRIER, self.round);
                    }
                    self.arrived.fill(false);
                }
            }
        }
    }
}

/// The functions that are entered while another thread is in some function, over all interleavings.
fn truth(program: &Program) -> BTreeSet<FunctionPair> {
    let (mut pairs, mut known, mut left) = (BTreeSet::new(), HashSet::new(), vec![State::new(program)]);
    while let Some(state) = left.pop() {
        for thread in 0..program.len() {
            let Some(step) = state.next(program, thread) else { continue };
            let mut after = state.clone();
            after.make(thread, step, &mut |_, _, _, _| {});
            if let Step::Enter(function) = step {
                let others = (0..program.len()).filter(|other| *other != thread);
                let inside = others.flat_map(|other| after.inside[other].iter());
                pairs.extend(inside.map(|other| FunctionPair::of(function, *other)));
            }
            if known.insert(after.clone()) {
                left.push(after);
            }
        }
    }
    pairs
}

/// One random execution: its order events and its calls.
fn run(program: &Program, rng: &mut Rng) -> (Vec<Event>, ExecutionCalls) {
    let mut state = State::new(program);
    let (mut events, mut calls) = (Vec::new(), ExecutionCalls::default());
    let mut times = vec![0; program.len()];
    let mut open: Vec<Vec<(CallInstance, Vec<CallLock>)>> = vec![Vec::new(); program.len()];
    loop {
        let can: Vec<(usize, Step)> =
            (0..program.len()).filter_map(|thread| Some((thread, state.next(program, thread)?))).collect();
        if can.is_empty() {
            break;
        }
        let (thread, step) = can[rng.below(can.len() as u64) as usize];
        let locks = |state: &State| -> Vec<CallLock> {
            let mine = state.held.iter().filter(|(who, _)| *who == thread);
            mine.map(|(_, hold)| *hold).collect()
        };
        if step == Step::Leave {
            let (mut instance, throughout) = open[thread].pop().unwrap();
            calls.lock_sets.push(throughout);
            instance.throughout = calls.lock_sets.len() as u32 - 1;
            instance.left = times[thread];
            calls.instances.push(instance);
        }
        state.make(thread, step, &mut |who, kind, addr, value| {
            assert!(kind.orders_threads());
            times[who] += 1;
            let thread = ThreadId(who as u16);
            events.push(Event { kind: kind as u8, addr, value, thread, ..Event::default() });
        });
        match step {
            Step::Enter(function) => {
                calls.lock_sets.push(locks(&state));
                let at_entry = calls.lock_sets.len() as u32 - 1;
                let (who, entered) = (ThreadId(thread as u16), times[thread]);
                let instance =
                    CallInstance { function, thread: who, at_entry, throughout: 0, entered, left: 0 };
                open[thread].push((instance, locks(&state)));
            }
            Step::Unlock(lock) => {
                for (_, throughout) in &mut open[thread] {
                    throughout.retain(|hold| hold.lock != lock);
                }
            }
            _ => {}
        }
    }
    (events, calls)
}

/// Main creates all threads, calls something in between, and joins some.
fn generated(rng: &mut Rng) -> Program {
    let count = 2 + rng.below(2) as usize;
    let mut program = vec![Vec::new(); count];
    let rounds = rng.below(2);
    for thread in 1..count {
        program[0].push(Step::Enter(100 + thread as u64));
        program[0].push(Step::Create(thread));
        if rng.below(2) == 0 {
            program[0].push(Step::Join(thread));
        }
        program[0].push(Step::Leave);
        for round in 0..=rounds {
            if round > 0 {
                program[thread].push(Step::Barrier);
            }
            body(rng, &mut program[thread]);
        }
    }
    // With a barrier, nobody may be joined before all have begun.
    if rounds > 0 {
        program[0].retain(|step| !matches!(step, Step::Join(_)));
    }
    program
}

fn body(rng: &mut Rng, steps: &mut Vec<Step>) {
    let (lock, function) = (rng.below(2), rng.below(4));
    let (take, leave) = if rng.below(4) == 0 {
        (Step::ReadLock(lock), Step::Unlock(lock))
    } else {
        (Step::Lock(lock), Step::Unlock(lock))
    };
    let inner = [Step::Enter(function + 10), Step::Leave];
    steps.extend(match rng.below(4) {
        0 => vec![take, Step::Enter(function), inner[0], inner[1], Step::Leave, leave],
        1 => vec![Step::Enter(function), take, inner[0], inner[1], leave, Step::Leave],
        2 => vec![take, Step::Enter(function), leave, inner[0], Step::Leave, Step::Leave],
        _ => vec![Step::Enter(function), inner[0], take, Step::Leave, leave, Step::Leave],
    });
}

#[test]
fn every_pair_that_can_happen_is_named_and_hardly_any_other() {
    let (mut happened, mut named) = (0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let program = generated(&mut rng);
        let (events, calls) = run(&program, &mut rng);
        let pairs = concurrent_pairs(&calls, &OrderClocks::of(&events));
        let truth = truth(&program);
        let missing: Vec<_> = truth.difference(&pairs).collect();
        assert!(missing.is_empty(), "seed {seed}: {missing:?} can happen in {program:?}");
        happened += truth.len();
        named += pairs.len();
    }
    assert!(happened > 1000, "only {happened} pairs: the programs are too simple");
    assert!(named - happened <= happened / 50, "{named} pairs are named, {happened} can happen");
}

#[test]
fn a_main_function_is_concurrent_with_the_worker_it_created() {
    use Step::*;
    let program = vec![
        vec![Enter(1), Enter(3), Leave, Create(1), Enter(2), Leave, Join(1), Enter(4), Leave, Leave],
        vec![Enter(5), Leave],
    ];
    let (events, calls) = run(&program, &mut Rng::new(1));
    let pairs = concurrent_pairs(&calls, &OrderClocks::of(&events));
    assert_eq!(pairs, BTreeSet::from([FunctionPair::of(1, 5), FunctionPair::of(2, 5)]));
}

#[test]
fn a_lock_excludes_what_it_holds_from_entrance_to_exit() {
    use Step::*;
    let (foo1, foo2, bar) = (1, 2, 3);
    let program = vec![
        vec![Create(1), Enter(foo1), Lock(7), Enter(foo2), Leave, Unlock(7), Leave],
        vec![Lock(7), Enter(bar), Leave, Unlock(7)],
    ];
    let (events, calls) = run(&program, &mut Rng::new(1));
    let pairs = concurrent_pairs(&calls, &OrderClocks::of(&events));
    assert_eq!(pairs, BTreeSet::from([FunctionPair::of(foo1, bar)]));
}

#[test]
fn a_callee_is_concurrent_with_what_its_caller_is_concurrent_with() {
    let (caller, callee, inner, other) = (1, 2, 3, 4);
    let mut pairs = BTreeSet::from([FunctionPair::of(caller, other), FunctionPair::of(caller, caller)]);
    inherit(&mut pairs, &[(callee, [caller].into()), (inner, [callee].into())].into());
    let all = [caller, callee, inner];
    let among = all.iter().flat_map(|one| all.iter().map(|two| FunctionPair::of(*one, *two)));
    let expected: BTreeSet<_> = among.chain(all.iter().map(|one| FunctionPair::of(*one, other))).collect();
    assert_eq!(pairs, expected);
}

/// The example of the paper's Figure 8.
#[test]
fn the_input_with_most_pairs_comes_first_and_then_what_is_missing() {
    let set = |pairs: &[(u64, u64)]| pairs.iter().map(|(one, two)| FunctionPair::of(*one, *two)).collect();
    let inputs =
        [set(&[(1, 2), (2, 3), (2, 4), (4, 5)]), set(&[(1, 2), (3, 4), (3, 5)]), set(&[(2, 3), (3, 4)])];
    let selected = select(&inputs);
    assert_eq!(selected.len(), 2);
    assert_eq!((selected[0].input, selected[0].functions()), (0, BTreeSet::from([1, 2, 3, 4, 5])));
    assert_eq!((selected[1].input, selected[1].functions()), (1, BTreeSet::from([3, 4, 5])));
    assert_eq!(selected[1].pairs, set(&[(3, 4), (3, 5)]));
}

#[test]
fn pairs_seen_before_are_looked_for_again_among_the_functions_of_new_ones() {
    let set = |pairs: &[(u64, u64)]| pairs.iter().map(|(one, two)| FunctionPair::of(*one, *two)).collect();
    let selected = select(&[set(&[(1, 2), (3, 3), (4, 4)]), set(&[(1, 2), (1, 3), (2, 3), (4, 4)])]);
    assert_eq!((selected[0].input, selected[1].input), (1, 0));
    assert_eq!(selected[1].pairs, set(&[(3, 3)]));
    assert_eq!(selected[0].pairs, set(&[(1, 2), (1, 3), (2, 3), (4, 4)]));
    let selected = select(&[set(&[(1, 1), (1, 2), (2, 2)]), set(&[(1, 2), (1, 3), (2, 3)])]);
    assert_eq!(selected[1].pairs, set(&[(1, 2), (1, 3), (2, 3)]));
}
