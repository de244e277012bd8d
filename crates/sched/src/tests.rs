//! What each policy promises, checked on toy programs.

mod directed;
mod forced;
mod guideline;
mod interruptions;
mod priorities;
mod specification;
mod statistics;
mod tsa;
mod uniform;

use std::collections::BTreeSet;

use crate::toy::{Toy, ToyStep, Walk};
use crate::{
    AnyPolicy, Delay, Guidance, Interruption, Interruptions, Parameters, Pct, PolicySpec, Pos, Random, Rng,
    RoundRobin, Surw, Tsa,
};

/// The policies that need no list to follow.
fn free_policies() -> [Parameters; 9] {
    [
        Random.into(),
        Pct { depth: 3, expected_steps: 0 }.into(),
        Pos.into(),
        Surw::default().into(),
        Delay { longest_micros: 3, probability: 0.1 }.into(),
        RoundRobin { turn: 3 }.into(),
        Tsa { third_rule: true, stay_probability: 0.1, requirements: Default::default() }.into(),
        Guidance::default().into(),
        Interruptions { at: Interruption::AfterLock, probability: 0.1 }.into(),
    ]
}

/// Runs a program with all its locations known to be shared.
fn run(toy: &Toy, spec: &PolicySpec) -> Walk {
    toy.run(&mut start(spec), &toy.locations())
}

fn start(spec: &PolicySpec) -> AnyPolicy {
    spec.clone().start()
}

/// Threads that each write a number of times to a location of their own, or to a common one.
fn writers(counts: &[usize], common: bool) -> Toy {
    let place = |thread: usize| if common { 8 } else { 8 * (thread as u64 + 1) };
    Toy { threads: counts.iter().enumerate().map(|(t, &n)| vec![ToyStep::Write(place(t)); n]).collect() }
}

/// A made-up program: accesses to three locations, some under one of two locks.
fn made_up(rng: &mut Rng) -> Toy {
    let threads = 2 + rng.below(3) as usize;
    let block = |rng: &mut Rng| {
        let place = 8 * (1 + rng.below(3));
        let lock = 1000 + rng.below(2);
        match rng.below(3) {
            0 => vec![ToyStep::Read(place)],
            1 => vec![ToyStep::Read(place), ToyStep::Write(place)],
            _ => {
                vec![ToyStep::Lock(lock), ToyStep::Read(place), ToyStep::Write(place), ToyStep::Unlock(lock)]
            }
        }
    };
    let thread = |rng: &mut Rng| (0..1 + rng.below(3)).flat_map(|_| block(rng)).collect();
    Toy { threads: (0..threads).map(|_| thread(rng)).collect() }
}

#[test]
fn the_same_seed_gives_the_same_run_and_other_seeds_give_others() {
    let mut rng = Rng::new(11);
    for case in 0..50 {
        let toy = made_up(&mut rng);
        for policy in free_policies() {
            let spec = PolicySpec::new(policy, case);
            assert_eq!(run(&toy, &spec), run(&toy, &spec), "{spec:?}, case {case}");
        }
    }
    let toy = writers(&[4, 4, 4], true);
    // Without locks, the last one draws nothing either.
    let is_drawn = |it: &Parameters| !matches!(it, Parameters::RoundRobin(_) | Parameters::Interruptions(_));
    for policy in free_policies().into_iter().filter(is_drawn) {
        let orders: BTreeSet<String> =
            (0..50).map(|seed| run(&toy, &PolicySpec::new(policy.clone(), seed)).word()).collect();
        assert!(orders.len() > 4, "{policy:?} gave {} orders in 50 runs", orders.len());
    }
}

#[test]
fn every_policy_runs_every_program_to_its_end() {
    let mut rng = Rng::new(5);
    for case in 0..200 {
        let toy = made_up(&mut rng);
        let steps: usize = toy.threads.iter().map(Vec::len).sum();
        for policy in free_policies() {
            let walk = run(&toy, &PolicySpec::new(policy.clone(), case));
            assert_eq!(walk.order.len(), steps, "{policy:?}, case {case}");
            assert!(!walk.deadlock);
        }
    }
}
