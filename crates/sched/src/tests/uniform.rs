//! Where a policy promises equal chances, they are equal.

use super::statistics::{assert_skewed, assert_uniform};
use super::{run, writers};
use crate::toy::{Toy, ToyStep};
use crate::{Parameters, PolicySpec, Pos, Random, Surw};

fn surw(object: Option<u64>, weights: &[u32]) -> Parameters {
    Surw { object, weights: weights.to_vec() }.into()
}

fn random() -> Parameters {
    Random.into()
}

/// The order of steps under a policy with this seed.
fn word(toy: &Toy, policy: &Parameters, seed: u64) -> String {
    run(toy, &PolicySpec::new(policy.clone(), seed)).word()
}

#[test]
fn pos_orders_independent_operations_uniformly() {
    let toy = writers(&[1, 1, 1, 1], false);
    assert_uniform(24, 24_000, |seed| word(&toy, &Pos.into(), seed));
}

#[test]
fn pos_orders_one_late_operation_against_many_uniformly() {
    // Thread 1's only write keeps its draw while thread 0 makes independent steps, so it comes
    // before the conflicting last write half the time. A random walk nearly always has it first.
    let mut first = vec![ToyStep::Write(8); 9];
    first.push(ToyStep::Write(64));
    let toy = Toy { threads: vec![first, vec![ToyStep::Write(64)]] };
    let is_last = |policy: &Parameters, seed| word(&toy, policy, seed).ends_with('1');
    let late = (0..4000).filter(|&seed| is_last(&Pos.into(), seed)).count();
    let walked = (0..4000).filter(|&seed| is_last(&random(), seed)).count();
    assert!(late > 10 * walked.max(1), "pos {late}, random {walked} of 4000");
}

#[test]
fn surw_is_uniform_over_all_interleavings_of_two_threads() {
    let toy = writers(&[2, 5], true);
    assert_uniform(21, 21_000, |seed| word(&toy, &surw(None, &[2, 5]), seed));
    assert_skewed(21, 21_000, |seed| word(&toy, &random(), seed));
}

#[test]
fn surw_is_uniform_when_threads_create_threads() {
    // Main makes a write, creates thread 1 (which creates thread 2), and makes two more writes:
    // a tree, with 6! / (2 · 1 · 4 · 3 · 1 · 1) orders after the two leading steps.
    let write = ToyStep::Write(8);
    let toy = Toy {
        threads: vec![
            vec![write, ToyStep::Create(1), write, write],
            vec![write, ToyStep::Create(2), write],
            vec![write],
        ],
    };
    // Inclusive weights: each thread with those it creates.
    assert_uniform(30, 30_000, |seed| word(&toy, &surw(None, &[8, 4, 1]), seed));
}

#[test]
fn surw_is_uniform_over_the_interesting_operations_whatever_lies_between() {
    let private = |place: u64, n: usize| vec![ToyStep::Write(place); n];
    let shared = ToyStep::Write(8);
    let first = [private(16, 6), vec![shared], private(16, 3), vec![shared]].concat();
    let second = [vec![shared, shared], private(24, 7), vec![shared]].concat();
    let toy = Toy { threads: vec![first, second] };
    let order = |policy: Parameters, seed| {
        let walk = run(&toy, &PolicySpec::new(policy, seed));
        let interesting = walk.order.iter().zip(&walk.ops).filter(|(_, op)| op.object == 8);
        interesting.map(|(thread, _)| thread.to_string()).collect::<String>()
    };
    assert_uniform(10, 10_000, |seed| order(surw(Some(8), &[2, 3]), seed));
    assert_skewed(10, 10_000, |seed| order(random(), seed));
}

#[test]
fn surw_with_wrong_or_missing_weights_still_reaches_every_interleaving() {
    let toy = writers(&[2, 2], true);
    for weights in [[0, 0], [0, 2], [1, 1], [50, 1], [u32::MAX, u32::MAX]] {
        let mut counts = std::collections::BTreeSet::new();
        for seed in 0..3000 {
            counts.insert(word(&toy, &surw(None, &weights), seed));
        }
        assert!(counts.len() >= 4, "weights {weights:?} reach only {counts:?}");
    }
}
