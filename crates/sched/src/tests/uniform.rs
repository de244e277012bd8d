//! Where a policy promises equal chances, they are equal.

use super::statistics::{assert_skewed, assert_uniform};
use super::{run, writers};
use crate::toy::{Step, Toy};
use crate::{PolicyKind, PolicySpec};

fn spec(kind: PolicyKind, seed: u64, weights: &[u32]) -> PolicySpec {
    let mut spec = PolicySpec::new(kind, seed);
    spec.weights[..weights.len()].copy_from_slice(weights);
    spec
}

#[test]
fn pos_orders_independent_operations_uniformly() {
    let toy = writers(&[1, 1, 1, 1], false);
    assert_uniform(24, 24_000, |seed| run(&toy, &spec(PolicyKind::Pos, seed, &[])).word());
}

#[test]
fn pos_orders_one_late_operation_against_many_uniformly() {
    // Thread 1's only write keeps its draw while thread 0 makes independent steps, so it comes
    // before the conflicting last write half the time. A random walk nearly always has it first.
    let mut first = vec![Step::Write(8); 9];
    first.push(Step::Write(64));
    let toy = Toy { threads: vec![first, vec![Step::Write(64)]] };
    let side = |kind, seed| {
        let walk = run(&toy, &spec(kind, seed, &[]));
        if walk.word().ends_with('1') { "last".to_string() } else { "earlier".to_string() }
    };
    let late = (0..4000).filter(|&seed| side(PolicyKind::Pos, seed) == "last").count();
    let walked = (0..4000).filter(|&seed| side(PolicyKind::Random, seed) == "last").count();
    assert!(late > 10 * walked.max(1), "pos {late}, random {walked} of 4000");
}

#[test]
fn surw_is_uniform_over_all_interleavings_of_two_threads() {
    let toy = writers(&[2, 5], true);
    let order = |kind, seed| run(&toy, &spec(kind, seed, &[2, 5])).word();
    assert_uniform(21, 21_000, |seed| order(PolicyKind::Surw, seed));
    assert_skewed(21, 21_000, |seed| order(PolicyKind::Random, seed));
}

#[test]
fn surw_is_uniform_when_threads_create_threads() {
    // Main makes a write, creates thread 1 (which creates thread 2), and makes two more writes:
    // a tree, with 6! / (2 · 1 · 4 · 3 · 1 · 1) orders after the two leading steps.
    let write = Step::Write(8);
    let toy = Toy {
        threads: vec![
            vec![write, Step::Create(1), write, write],
            vec![write, Step::Create(2), write],
            vec![write],
        ],
    };
    // Inclusive weights: each thread with those it creates.
    assert_uniform(30, 30_000, |seed| run(&toy, &spec(PolicyKind::Surw, seed, &[8, 4, 1])).word());
}

#[test]
fn surw_is_uniform_over_the_interesting_operations_whatever_lies_between() {
    let private = |place: u64, n: usize| vec![Step::Write(place); n];
    let shared = Step::Write(8);
    let first = [private(16, 6), vec![shared], private(16, 3), vec![shared]].concat();
    let second = [vec![shared, shared], private(24, 7), vec![shared]].concat();
    let toy = Toy { threads: vec![first, second] };
    let order = |kind, seed| {
        let mut spec = spec(kind, seed, &[2, 3]);
        spec.object = 8;
        let walk = run(&toy, &spec);
        let interesting = walk.order.iter().zip(&walk.ops).filter(|(_, op)| op.object == 8);
        interesting.map(|(thread, _)| thread.to_string()).collect::<String>()
    };
    assert_uniform(10, 10_000, |seed| order(PolicyKind::Surw, seed));
    assert_skewed(10, 10_000, |seed| order(PolicyKind::Random, seed));
}

#[test]
fn surw_with_wrong_or_missing_weights_still_reaches_every_interleaving() {
    let toy = writers(&[2, 2], true);
    for weights in [[0, 0], [0, 2], [1, 1], [50, 1], [u32::MAX, u32::MAX]] {
        let mut counts = std::collections::BTreeSet::new();
        for seed in 0..3000 {
            counts.insert(run(&toy, &spec(PolicyKind::Surw, seed, &weights)).word());
        }
        assert!(counts.len() >= 4, "weights {weights:?} reach only {counts:?}");
    }
}
