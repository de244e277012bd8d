//! What the loop promises whatever the strategy.

use std::sync::atomic::Ordering;
use std::time::Duration;

use threadbare_sched::toy::{Toy, ToyStep as Step};
use threadbare_trace::FailureKind;
use threadbare_wire::SwitchRecord;

use super::toy_runner::{Lab, Manners};
use super::{campaign, options};
use crate::campaign::run;
use crate::campaign::{Campaign, CampaignVerdict};
use crate::error::ExploreError;
use crate::options::Options;
use crate::strategies::{STRATEGIES, StrategyOptions};

/// Everything about a campaign that must not depend on timing.
#[derive(PartialEq, Debug)]
struct Account {
    verdict: CampaignVerdict,
    executions: u64,
    steps: u64,
    failures: Vec<(FailureKind, u64)>,
    found: Vec<(u64, String, u64, Vec<SwitchRecord>)>,
    exhausted: bool,
    shared: usize,
}

fn account(campaign: &Campaign) -> Account {
    let found = campaign.found.iter();
    Account {
        verdict: campaign.verdict,
        executions: campaign.executions,
        steps: campaign.steps,
        failures: campaign.failures.clone(),
        found: found.map(|f| (f.execution, f.policy.clone(), f.count, f.run.switches.clone())).collect(),
        exhausted: campaign.exhausted,
        shared: campaign.shared_locations,
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_jobs() {
    for strategy in STRATEGIES {
        for keep_going in [false, true] {
            let account = |jobs, jitter| {
                let lab = Lab::ill_mannered(3, 2, Manners { jitter, ..Manners::default() });
                let options = Options { jobs, keep_going, ..options(strategy, 150) };
                account(&campaign(&lab, &options).unwrap())
            };
            let one = account(1, false);
            assert_eq!(one, account(3, true), "{strategy}, keep going: {keep_going}");
            assert_eq!(one, account(16, true), "{strategy}, keep going: {keep_going}");
        }
    }
}

#[test]
fn another_seed_gives_another_campaign() {
    let switches = |seed| {
        let options = Options { seed, keep_going: true, ..options("random", 50) };
        let result = campaign(&Lab::lost_update(3, 2), &options).unwrap();
        result.found.iter().map(|found| found.run.switches.clone()).collect::<Vec<_>>()
    };
    assert_eq!(switches(1), switches(1));
    assert_ne!(switches(1), switches(2));
}

#[test]
fn every_strategy_finds_a_lost_update() {
    for strategy in STRATEGIES {
        let result = campaign(&Lab::lost_update(2, 3), &options(strategy, 200)).unwrap();
        assert_eq!(result.verdict, CampaignVerdict::Failure, "{strategy}");
        let found = &result.found[0];
        assert_eq!(found.execution, result.executions, "{strategy}: the campaign ends with the failure");
        assert!(!found.run.events.is_empty(), "{strategy}: the failing trace is kept");
        let family = strategy.split('-').next().unwrap();
        assert!(*strategy == "auto" || found.policy.starts_with(family), "{strategy}: {}", found.policy);
    }
}

#[test]
fn the_lost_update_is_found_within_ten_executions() {
    for seed in 0..50 {
        let options = Options { seed, ..options("auto", 10) };
        let result = campaign(&Lab::lost_update(2, 1), &options).unwrap();
        assert_eq!(result.verdict, CampaignVerdict::Failure, "seed {seed}");
    }
}

#[test]
fn a_correct_program_stays_clean() {
    // Those that come to an end by themselves have tests of their own.
    let ends = ["dfs", "states", "mcr", "total", "total-paper", "reach", "tpair", "pcr", "round-robin"];
    for strategy in STRATEGIES.iter().filter(|name| !ends.contains(name)) {
        let result = campaign(&Lab::locked_update(3, Manners::default()), &options(strategy, 300)).unwrap();
        assert_eq!((result.verdict, result.executions), (CampaignVerdict::Clean, 300), "{strategy}");
        assert_eq!((result.threads, result.shared_locations), (3, 1));
    }
}

#[test]
fn round_robin_ends_when_turns_are_longer_than_the_program() {
    let result =
        campaign(&Lab::locked_update(2, Manners::default()), &options("round-robin", 10_000)).unwrap();
    assert!(result.executions < 100, "{}", result.executions);
}

#[test]
fn keep_going_counts_failures_and_keeps_each_kind_once() {
    let options = Options { keep_going: true, ..options("random", 2000) };
    let result = campaign(&Lab::lost_update(2, 1), &options).unwrap();
    assert_eq!(result.executions, 2000);
    let [(FailureKind::Assertion, failures)] = result.failures[..] else { panic!("{:?}", result.failures) };
    assert_eq!(result.found.iter().map(|found| found.count).sum::<u64>(), failures);
    // A random walk loses the update unless one thread makes both steps first: 1/4 + 1/4.
    assert!((900..1100).contains(&failures), "{failures} of 2000");
}

#[test]
fn unknown_strategies_and_empty_budgets_are_refused() {
    let lab = Lab::lost_update(2, 1);
    let error = campaign(&lab, &options("magic", 10)).unwrap_err().to_string();
    assert!(error.contains("`magic`") && STRATEGIES.iter().all(|name| error.contains(name)), "{error}");
    assert!(matches!(campaign(&lab, &options("auto", 0)), Err(ExploreError::NoExecutions)));
    for delay_probability in [-0.1, 1.5, f64::NAN] {
        let strategy_options = StrategyOptions { delay_probability, ..StrategyOptions::default() };
        let options = Options { strategy_options, ..options("delay-yield", 10) };
        assert!(matches!(campaign(&lab, &options), Err(ExploreError::Probability(_))));
    }
    assert_eq!(lab.0.launches.load(Ordering::Relaxed), 0, "nothing was started");
}

#[test]
fn a_lost_runner_is_replaced_and_changes_nothing() {
    let outcome = |dies_every| {
        let lab = Lab::ill_mannered(3, 1, Manners { dies_every, ..Manners::default() });
        let options = Options { keep_going: true, ..options("auto", 100) };
        let result = account(&campaign(&lab, &options).unwrap());
        (result, lab.0.launches.load(Ordering::Relaxed))
    };
    let (healthy, launches) = outcome(None);
    assert_eq!(launches, 1);
    let (ill, launches) = outcome(Some(5));
    assert_eq!(ill, healthy);
    assert!(launches > 10);
}

#[test]
fn a_runner_that_is_always_lost_is_an_error() {
    let lab = Lab::ill_mannered(2, 1, Manners { dies_every: Some(1), ..Manners::default() });
    assert!(campaign(&lab, &options("auto", 100)).is_err());
    assert_eq!(lab.0.launches.load(Ordering::Relaxed), 2, "tried twice, not for ever");
}

#[test]
fn a_program_that_fails_on_its_own_is_a_failure() {
    let lab = Lab::ill_mannered(2, 1, Manners { crashes: true, ..Manners::default() });
    let result = campaign(&lab, &Options { keep_going: true, ..options("auto", 100) }).unwrap();
    assert_eq!((result.verdict, result.executions), (CampaignVerdict::Failure, 1));
    assert_eq!(result.found[0].policy, "start-up");
    assert_eq!(lab.0.launches.load(Ordering::Relaxed), 1);
}

#[test]
fn a_program_out_of_control_is_an_error_and_a_partly_controlled_one_a_warning() {
    let lab = |every| {
        let manners = Manners { uncontrolled_every: Some(every), ..Manners::default() };
        Lab::locked_update(2, manners)
    };
    let lost = lab(1);
    assert!(matches!(campaign(&lost, &options("auto", 1000)), Err(ExploreError::Uncontrolled(_))));
    assert_eq!(lost.0.runs.load(Ordering::Relaxed), 4, "it is seen early");
    let result = campaign(&lab(10), &options("auto", 100)).unwrap();
    assert_eq!(result.uncontrolled, 10);
    assert!(result.warnings[0].starts_with("10 of 100 executions"), "{:?}", result.warnings);
}

#[test]
fn ctrl_c_keeps_what_was_found() {
    let lab = Lab::ill_mannered(2, 1, Manners { stops_after: Some(40), ..Manners::default() });
    let options = Options { keep_going: true, ..options("random", 1_000_000) };
    let result = run(&lab, &options, &|_| {}, &lab.0.stop).unwrap();
    assert!(result.interrupted);
    assert_eq!((result.verdict, result.executions), (CampaignVerdict::Failure, 40));
}

#[test]
fn the_time_budget_ends_the_campaign_after_at_least_one_execution() {
    let lab = Lab::locked_update(2, Manners::default());
    let options = |time| Options { time: Some(time), ..options("random", u64::MAX) };
    assert_eq!(campaign(&lab, &options(Duration::ZERO)).unwrap().executions, 1);
    let result = campaign(&lab, &options(Duration::from_millis(50))).unwrap();
    assert!(result.executions > 1 && !result.interrupted);
    assert!(result.elapsed < Duration::from_secs(5));
}

/// A hunt that ends at a failure may have run everything by then: if it says so, continuing makes no further execution.
#[test]
fn exhausted_beside_a_failure_means_that_nothing_was_left() {
    // One thread fails if it sees the other's store, or if it does not: the failure is met late or early.
    let toy = |value| Toy {
        threads: vec![vec![Step::Store(8, 1)], vec![Step::Read(8), Step::SkipIf(value, 1), Step::Fail]],
    };
    let (mut claimed, mut cut) = (0, 0);
    for strategy in ["dfs", "mcr"] {
        for value in [0, 1] {
            for seed in 0..8 {
                let hunt = |keep_going| {
                    let lab = Lab::new(toy(value), None, Manners { all_shared: true, ..Manners::default() });
                    campaign(&lab, &Options { seed, keep_going, ..options(strategy, 1000) }).unwrap()
                };
                let (first, all) = (hunt(false), hunt(true));
                assert_eq!(
                    (first.verdict, all.verdict),
                    (CampaignVerdict::Failure, CampaignVerdict::Failure)
                );
                assert!(all.exhausted || strategy == "mcr", "{strategy}");
                assert!(
                    !first.exhausted || first.executions == all.executions,
                    "{strategy}, seed {seed}: exhausted after {} of {}",
                    first.executions,
                    all.executions
                );
                claimed += usize::from(first.exhausted);
                cut += usize::from(first.executions < all.executions);
            }
        }
    }
    assert!(claimed > 0 && cut > 0, "{claimed} hunts ran everything, {cut} did not");
}

#[test]
fn executions_that_are_cut_void_the_claim() {
    for strategy in ["dfs", "mcr"] {
        let exhausted = |given_up_every| {
            let manners = Manners { given_up_every, ..Manners::default() };
            let options = Options { keep_going: true, ..options(strategy, 100_000) };
            campaign(&Lab::locked_update(3, manners), &options).unwrap().exhausted
        };
        assert!(exhausted(None), "{strategy}");
        assert!(!exhausted(Some(4)), "{strategy}: what would have come is not known");
    }
}
