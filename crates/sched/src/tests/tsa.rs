//! The controller of synchronization pairs on the paper's own example (Figure 2 and §2.4), and that it never keeps a
//! program from ending.

use std::collections::BTreeSet;
use std::sync::Arc;

use threadbare_trace::{EventKind, ThreadId};

use super::made_up;
use crate::toy::{Toy, ToyStep, Walk};
use crate::{
    Candidate, Choice, Op, Policy as _, PolicySpec, Requirements, Rng, Specification as _, Tsa, TsaPolicy,
};

const M: u64 = 1000;
const THREAD_1: ThreadId = ThreadId(0);
const THREAD_2: ThreadId = ThreadId(1);

/// The lock statements of Figure 2; the code of the second thread lies behind that of the first.
const A2: u64 = Toy::place(0);
const A4: u64 = Toy::place(2);
const B2: u64 = Toy::place(4);
const B4: u64 = Toy::place(6);

/// The ten requirements of §2.3.
const TEN: [(u64, u64); 10] =
    [(A2, A4), (A2, B2), (A2, B4), (A4, B2), (A4, B4), (B2, B4), (B2, A2), (B2, A4), (B4, A2), (B4, A4)];

/// The program of Figure 2.
fn figure_2() -> Toy {
    let section = [ToyStep::Lock(M), ToyStep::Unlock(M)];
    let behind = [vec![ToyStep::Write(8); 4], section.repeat(2)].concat();
    Toy { threads: vec![section.repeat(2), behind] }
}

fn parameters(rules: u32, uncovered: impl IntoIterator<Item = (u64, u64)>) -> Tsa {
    let requirements = Arc::new(Requirements::new(uncovered));
    Tsa { third_rule: rules == 3, stay_probability: 0.1, requirements }
}

fn controller(rules: u32, seed: u64, uncovered: &[(u64, u64)]) -> TsaPolicy {
    parameters(rules, uncovered.iter().copied()).start(seed)
}

fn lock(site: u64, index: u32) -> Op {
    Op { kind: EventKind::Lock, object: M, size: 0, site, index, place: site }
}

/// Who runs where the two threads have reached these operations.
fn choose(tsa: &mut TsaPolicy, current: ThreadId, first: &Op, second: &Op) -> ThreadId {
    let candidates = [Candidate { thread: THREAD_1, op: first }, Candidate { thread: THREAD_2, op: second }];
    tsa.choose(&Choice { candidates: &candidates, current, step: 0 })
}

fn take(tsa: &mut TsaPolicy, thread: ThreadId, op: &Op) {
    tsa.executed(thread, op);
    tsa.acquired(thread, op);
}

#[test]
fn the_first_execution_goes_as_in_the_paper() {
    // Where rules leave a choice the paper takes 2a, then 2b.
    let mut as_in_paper = 0;
    for seed in 0..64 {
        let mut tsa = controller(3, seed, &TEN);
        // Iterations 1 to 3: both are paused, and rule 2 lets one go.
        let first = choose(&mut tsa, THREAD_1, &lock(A2, 1), &lock(B2, 1));
        assert_eq!(tsa.counters(), [0, 1, 0]);
        if first != THREAD_1 {
            continue;
        }
        take(&mut tsa, THREAD_1, &lock(A2, 1));
        // Iteration 4: 3a is no lock action, and 2b is blocked while m is held: there is nothing to choose.
        let unlock = Op { kind: EventKind::Unlock, ..lock(Toy::place(1), 2) };
        tsa.executed(THREAD_1, &unlock);
        // Iterations 5 and 6: 4a is paused, and rule 1 lets one go that covers a pair at once.
        let second = choose(&mut tsa, THREAD_1, &lock(A4, 3), &lock(B2, 1));
        assert_eq!(tsa.counters(), [1, 1, 0]);
        if second == THREAD_2 {
            take(&mut tsa, THREAD_2, &lock(B2, 1));
            as_in_paper += 1;
        }
    }
    assert!((8..32).contains(&as_in_paper), "{as_in_paper} of 64: both choices are even");
}

#[test]
fn what_is_covered_is_not_aimed_at_again() {
    let mut tsa = controller(3, 1, &[(A2, B2)]);
    take(&mut tsa, THREAD_1, &lock(A2, 1));
    take(&mut tsa, THREAD_2, &lock(B2, 1));
    // Nothing is left: nobody is paused and no rule is needed.
    choose(&mut tsa, THREAD_1, &lock(A2, 3), &lock(B2, 3));
    assert_eq!(tsa.counters(), [0, 0, 0]);
}

#[test]
fn a_lock_that_is_made_anew_has_not_been_taken() {
    let mut tsa = controller(3, 1, &TEN);
    take(&mut tsa, THREAD_1, &lock(A2, 1));
    tsa.executed(THREAD_1, &Op { kind: EventKind::Destroy, ..lock(77, 2) });
    choose(&mut tsa, THREAD_1, &lock(A4, 3), &lock(B2, 1));
    assert_eq!(tsa.counters(), [0, 1, 0]);
}

#[test]
fn rule_3_lets_go_who_has_the_least_to_wait_for() {
    let uncovered = [(A2, B4), (A4, B2), (B4, A2)];
    for seed in 0..64 {
        let mut tsa = controller(3, seed, &uncovered);
        assert_eq!(choose(&mut tsa, THREAD_1, &lock(A2, 1), &lock(B2, 1)), THREAD_2);
        assert_eq!(tsa.counters(), [0, 0, 1]);
    }
    // Without the rule, one is drawn.
    let goes = |seed| choose(&mut controller(2, seed, &uncovered), THREAD_1, &lock(A2, 1), &lock(B2, 1));
    let first = (0..64).filter(|seed| goes(*seed) == THREAD_1).count();
    assert!((16..48).contains(&first), "{first} of 64");
}

#[test]
fn who_wants_the_lock_of_a_paused_thread_waits_too() {
    // 2b is in no pair, but would get between.
    let mut paused = 0;
    for seed in 0..64 {
        let mut tsa = controller(3, seed, &[(A2, A4)]);
        let (first, second) = (lock(A2, 1), lock(B2, 1));
        // Where both are looked at, and 2a first, both are paused and a rule decides: 2b has the least to wait for.
        assert_eq!(choose(&mut tsa, ThreadId(2), &first, &second), THREAD_2);
        paused += tsa.counters()[2];
    }
    // Where 2b is looked at first, there is nobody in whose way it could get.
    assert!((16..48).contains(&paused), "{paused} of 64");
}

#[test]
fn between_locks_a_thread_continues_as_often_as_asked() {
    let write = |thread: u64| Op { kind: EventKind::Write, object: 8, ..lock(70 + thread, 1) };
    let stays = |probability: f64, op: &Op| {
        let continues = |seed: &u64| {
            let mut tsa = Tsa { stay_probability: probability, ..parameters(3, []) }.start(*seed);
            choose(&mut tsa, THREAD_1, op, &write(2)) == THREAD_1
        };
        (0..400).filter(continues).count()
    };
    assert_eq!(stays(1.0, &write(1)), 400);
    assert!((160..240).contains(&stays(0.0, &write(1))));
    // A lock is where anybody may come first.
    assert!((160..240).contains(&stays(1.0, &lock(A2, 1))));
}

/// The pairs that a run shows (Definition 2).
fn shown(walk: &Walk) -> BTreeSet<(u64, u64)> {
    let locks: Vec<&Op> = walk.ops.iter().filter(|op| op.kind == EventKind::Lock).collect();
    let next = |index: usize| locks[index + 1..].iter().find(|op| op.object == locks[index].object);
    (0..locks.len()).filter_map(|index| Some((locks[index].place, next(index)?.place))).collect()
}

fn run(toy: &Toy, rules: u32, seed: u64, uncovered: &BTreeSet<(u64, u64)>) -> Walk {
    super::run(toy, &PolicySpec::new(parameters(rules, uncovered.iter().copied()), seed))
}

#[test]
fn all_ten_pairs_are_covered_in_a_few_executions() {
    // Each execution shows three pairs, so four are needed at least.
    for (rules, most) in [(3, 8), (2, 12)] {
        for seed in 0..100 {
            let mut uncovered: BTreeSet<(u64, u64)> = TEN.into();
            let needed = (1..=most).find(|number| {
                let walk = run(&figure_2(), rules, Rng::derive(seed, *number), &uncovered);
                let shown = shown(&walk);
                uncovered.retain(|pair| !shown.contains(pair));
                uncovered.is_empty()
            });
            assert!(needed.is_some(), "{rules} rules, seed {seed}: {uncovered:?} are left");
        }
    }
}

#[test]
fn no_pause_keeps_a_program_from_ending() {
    let mut rng = Rng::new(29);
    for case in 0..300 {
        let toy = made_up(&mut rng);
        let longest = toy.threads.iter().map(Vec::len).max().unwrap_or(0);
        let mut place = || Toy::place(rng.below(longest as u64) as usize);
        let uncovered: BTreeSet<(u64, u64)> = (0..longest * 2).map(|_| (place(), place())).collect();
        let steps: usize = toy.threads.iter().map(Vec::len).sum();
        for rules in [2, 3] {
            let walk = run(&toy, rules, case, &uncovered);
            assert_eq!(walk.order.len(), steps, "{rules} rules, case {case}");
        }
    }
}

#[test]
fn who_spins_for_a_paused_thread_gets_what_it_waits_for() {
    // Thread 2 reads a flag until thread 1, which is paused before its lock, has set it.
    let toy = Toy {
        threads: vec![
            vec![ToyStep::Lock(M), ToyStep::Store(8, 1), ToyStep::Unlock(M)],
            vec![ToyStep::Read(8), ToyStep::BackIf(0, 1), ToyStep::Lock(M), ToyStep::Unlock(M)],
        ],
    };
    let uncovered = BTreeSet::from([(Toy::place(0), Toy::place(2)), (Toy::place(2), Toy::place(0))]);
    for seed in 0..50 {
        let walk = run(&toy, 3, seed, &uncovered);
        assert!(!walk.deadlock, "seed {seed}");
        assert_eq!(walk.order.last(), Some(&THREAD_2), "seed {seed}");
    }
}
