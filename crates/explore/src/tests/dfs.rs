//! The systematic search runs everything once, and claims no more than it ran.

use std::collections::BTreeSet;

use threadbare_sched::Rng;
use threadbare_sched::toy::{Toy, ToyStep as Step};

use super::oracle::interleavings;
use super::toy_runner::{Lab, Manners};
use super::{campaign, options};
use crate::campaign::results::CampaignVerdict;
use crate::error::ExploreError;
use crate::options::Options;
use crate::strategies::StrategyOptions;

/// Two or three threads that all touch both locations, some of it under locks.
fn made_up(rng: &mut Rng) -> Toy {
    let threads = 2 + rng.below(2) as usize;
    let all = |rng: &mut Rng| {
        let mut steps = vec![Step::Write(8), Step::Write(16)];
        if rng.below(2) == 0 {
            steps.swap(0, 1);
        }
        if rng.below(2) == 0 {
            let lock = 1000 + rng.below(2);
            steps.insert(0, Step::Lock(lock));
            steps.insert(2, Step::Unlock(lock));
        }
        if threads == 2 && rng.below(2) == 0 {
            steps.extend([Step::Lock(1001), Step::Lock(1000), Step::Unlock(1000), Step::Unlock(1001)]);
        }
        steps
    };
    Toy { threads: (0..threads).map(|_| all(rng)).collect() }
}

/// The interleavings of the last pass, which begins with the empty prefix.
fn last_pass(lab: &Lab) -> Vec<String> {
    let seen = lab.seen();
    let start = seen.iter().rposition(|seen| seen.prefix.is_empty()).unwrap();
    seen[start..].iter().map(|seen| seen.word.clone()).collect()
}

#[test]
fn every_interleaving_is_run_exactly_once() {
    let mut rng = Rng::new(3);
    for case in 0..12 {
        let toy = made_up(&mut rng);
        let expected: BTreeSet<String> = interleavings(&toy).into_keys().collect();
        let lab = Lab::new(toy, None, Manners::default());
        let options = Options { keep_going: true, ..options("dfs", 1_000_000) };
        let result = campaign(&lab, &options).unwrap();
        assert!(result.exhausted, "case {case}");
        assert_eq!(result.bound, None);
        let words = last_pass(&lab);
        assert_eq!(words.len(), expected.len(), "case {case}: something was run twice or left out");
        assert_eq!(words.into_iter().collect::<BTreeSet<_>>(), expected, "case {case}");
    }
}

#[test]
fn a_preemption_bound_leaves_out_exactly_what_lies_beyond_it() {
    let mut rng = Rng::new(4);
    for case in 0..8 {
        let toy = made_up(&mut rng);
        let all = interleavings(&toy);
        for bound in 0..3 {
            let within = all.iter().filter(|(_, preemptions)| **preemptions <= bound);
            let expected: BTreeSet<String> = within.map(|(word, _)| word.clone()).collect();
            let lab = Lab::new(toy.clone(), None, Manners::default());
            let strategy_options =
                StrategyOptions { preemption_bound: Some(bound), ..StrategyOptions::default() };
            let options = Options { keep_going: true, strategy_options, ..options("dfs", 1_000_000) };
            let result = campaign(&lab, &options).unwrap();
            assert!(result.exhausted);
            let cut = expected.len() < all.len();
            assert_eq!(result.bound, cut.then_some(bound), "case {case}, bound {bound}");
            let words = last_pass(&lab);
            assert_eq!(words.len(), expected.len());
            assert_eq!(words.into_iter().collect::<BTreeSet<_>>(), expected, "case {case}, bound {bound}");
        }
    }
}

#[test]
fn a_correct_program_is_exhausted_and_a_wrong_one_is_not_called_clean() {
    let result = campaign(&Lab::locked_update(3, Manners::default()), &options("dfs", 100_000)).unwrap();
    assert_eq!(result.verdict, CampaignVerdict::Exhausted);
    let result = campaign(&Lab::lost_update(2, 1), &options("dfs", 100_000)).unwrap();
    assert_eq!(result.verdict, CampaignVerdict::Failure);
    assert!(!result.exhausted);
    assert_eq!(result.found[0].policy, "dfs");
}

#[test]
fn all_failing_interleavings_are_counted() {
    // Of the six interleavings of two increments, four lose an update.
    let options = Options { keep_going: true, ..options("dfs", 100_000) };
    let lab = Lab::lost_update(2, 1);
    let result = campaign(&lab, &options).unwrap();
    let words = last_pass(&lab);
    assert_eq!(words.len(), 6);
    let failing = lab.seen().iter().filter(|seen| !["0011", "1100"].contains(&seen.word.as_str())).count();
    assert_eq!(result.failures, [(threadbare_trace::FailureKind::Assertion, failing as u64)]);
    assert_eq!((result.found.len(), result.found[0].count), (1, failing as u64));
    assert_eq!((result.verdict, result.exhausted), (CampaignVerdict::Failure, true));
}

#[test]
fn a_budget_that_runs_out_claims_nothing() {
    let result = campaign(&Lab::locked_update(4, Manners::default()), &options("dfs", 20)).unwrap();
    assert_eq!((result.verdict, result.exhausted, result.executions), (CampaignVerdict::Clean, false, 20));
}

#[test]
fn a_budget_that_just_suffices_is_enough_to_claim() {
    let lab = || Lab::locked_update(2, Manners::default());
    let needed = campaign(&lab(), &options("dfs", 100_000)).unwrap().executions;
    assert_eq!(campaign(&lab(), &options("dfs", needed)).unwrap().verdict, CampaignVerdict::Exhausted);
    assert_eq!(campaign(&lab(), &options("dfs", needed - 1)).unwrap().verdict, CampaignVerdict::Clean);
}

#[test]
fn executions_out_of_control_void_the_claim() {
    let manners = Manners { uncontrolled_every: Some(7), ..Manners::default() };
    let result = campaign(&Lab::locked_update(3, manners), &options("dfs", 100_000)).unwrap();
    assert_eq!((result.verdict, result.exhausted), (CampaignVerdict::Clean, false));
    assert!(result.warnings.iter().any(|warning| warning.contains("claimed")), "{:?}", result.warnings);
}

#[test]
fn more_threads_than_bits_are_refused() {
    let toy = Toy { threads: vec![vec![Step::Write(8)]; 65] };
    let error = campaign(&Lab::new(toy, None, Manners::default()), &options("dfs", 10)).unwrap_err();
    assert!(matches!(error, ExploreError::TooManyThreads { started: 65, .. }), "{error}");
}
