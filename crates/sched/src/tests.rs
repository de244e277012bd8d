//! What each policy promises, checked on toy programs.

mod directed;
mod forced;
mod guideline;
mod interruptions;
mod priorities;
mod statistics;
mod tsa;
mod uniform;

use std::collections::BTreeSet;
use std::iter::empty;

use crate::toy::{Step, Toy, Walk};
use crate::{AnyPolicy, PolicyKind, PolicySpec, Rng, build};

/// The kinds that need no list to follow.
const FREE: [PolicyKind; 9] = [
    PolicyKind::Random,
    PolicyKind::Pct,
    PolicyKind::Pos,
    PolicyKind::Surw,
    PolicyKind::Delay,
    PolicyKind::RoundRobin,
    PolicyKind::Tsa,
    PolicyKind::Guideline,
    PolicyKind::Interruptions,
];

/// Runs a program with all its locations known to be shared.
fn run(toy: &Toy, spec: &PolicySpec) -> Walk {
    toy.run(&mut free(spec), &toy.locations())
}

/// A policy with no list to follow.
fn free(spec: &PolicySpec) -> AnyPolicy {
    build(spec, empty(), empty(), empty())
}

/// Threads that each write a number of times to a location of their own, or to a common one.
fn writers(counts: &[usize], common: bool) -> Toy {
    let place = |thread: usize| if common { 8 } else { 8 * (thread as u64 + 1) };
    Toy { threads: counts.iter().enumerate().map(|(t, &n)| vec![Step::Write(place(t)); n]).collect() }
}

/// A made-up program: accesses to three locations, some under one of two locks.
fn made_up(rng: &mut Rng) -> Toy {
    let threads = 2 + rng.below(3) as usize;
    let block = |rng: &mut Rng| {
        let place = 8 * (1 + rng.below(3));
        let lock = 1000 + rng.below(2);
        match rng.below(3) {
            0 => vec![Step::Read(place)],
            1 => vec![Step::Read(place), Step::Write(place)],
            _ => vec![Step::Lock(lock), Step::Read(place), Step::Write(place), Step::Unlock(lock)],
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
        for kind in FREE {
            let spec = PolicySpec::new(kind, case);
            assert_eq!(run(&toy, &spec), run(&toy, &spec), "{kind:?}, case {case}");
        }
    }
    let toy = writers(&[4, 4, 4], true);
    // Without locks, the last one leaves nothing to chance either.
    let without_chance = [PolicyKind::RoundRobin, PolicyKind::Interruptions];
    for kind in FREE.into_iter().filter(|kind| !without_chance.contains(kind)) {
        let orders: BTreeSet<String> =
            (0..50).map(|seed| run(&toy, &PolicySpec::new(kind, seed)).word()).collect();
        assert!(orders.len() > 4, "{kind:?} gave {} orders in 50 runs", orders.len());
    }
}

#[test]
fn every_policy_runs_every_program_to_its_end() {
    let mut rng = Rng::new(5);
    for case in 0..200 {
        let toy = made_up(&mut rng);
        let steps: usize = toy.threads.iter().map(Vec::len).sum();
        for kind in FREE {
            let walk = run(&toy, &PolicySpec::new(kind, case));
            assert_eq!(walk.order.len(), steps, "{kind:?}, case {case}");
            assert!(!walk.deadlock);
        }
    }
}
