//! Strategies side by side, on toy programs.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::toy_runner::{Lab, Manners};
use crate::campaign::{Campaign, run};
use crate::compare::{Comparison, TrialEnd, WARM_UP, run_all};
use crate::error::ExploreError;
use crate::options::Options;
use crate::statistics::{Magnitude, Measure};
use crate::strategies::StrategyOptions;

fn names(strategies: &[&str]) -> Vec<String> {
    strategies.iter().map(|name| name.to_string()).collect()
}

fn hunt(lab: &Lab, options: &Options) -> Result<Campaign, ExploreError> {
    run(lab, options, &|_| {}, &lab.0.stop)
}

fn compare(lab: &Lab, strategies: &[&str], runs: u64, options: &Options) -> Comparison {
    run_all(lab, &|it| hunt(lab, it), &names(strategies), runs, options, &|_| {}, &lab.0.stop).unwrap()
}

fn options(executions: u64) -> Options {
    Options { executions, ..Options::default() }
}

/// Everything but time.
fn figures(comparison: &Comparison) -> Vec<(String, u64, u64, Measure, TrialEnd, u64)> {
    let trials = comparison.contestants.iter().flat_map(|it| it.trials.iter().map(move |trial| (it, trial)));
    trials
        .map(|(it, trial)| {
            (it.strategy.clone(), trial.number, trial.seed, trial.measure, trial.end, trial.steps)
        })
        .collect()
}

#[test]
fn jobs_change_no_figure_but_time() {
    let compare = |jobs, jitter| {
        let lab = Lab::ill_mannered(3, 2, Manners { jitter, ..Manners::default() });
        figures(&compare(&lab, &["random", "pos", "dfs"], 12, &Options { jobs, ..options(60) }))
    };
    let one = compare(1, false);
    assert_eq!(one.len(), 36);
    assert_eq!(one, compare(3, true));
    assert_eq!(one, compare(8, true));
}

#[test]
fn a_trial_is_a_campaign_of_its_own_with_a_seed_that_all_strategies_share() {
    let lab = Lab::lost_update(3, 2);
    let comparison = compare(&lab, &["random", "pct"], 5, &options(80));
    let [random, pct] = &comparison.contestants[..] else { panic!("two strategies") };
    for (a, b) in random.trials.iter().zip(&pct.trials) {
        assert_eq!((a.number, a.seed), (b.number, b.seed));
    }
    for trial in &random.trials {
        let alone = Options { strategy: "random".into(), seed: trial.seed, ..options(80) };
        let campaign = run(&Lab::lost_update(3, 2), &alone, &|_| {}, &AtomicBool::new(false)).unwrap();
        let first = campaign.found.first().map(|found| found.execution);
        assert_eq!(trial.measure, first.map_or(Measure::Unfailed(80), Measure::Failed));
    }
    assert_ne!(random.trials[0].seed, random.trials[1].seed);
}

#[test]
fn a_strategy_that_cannot_fail_loses_to_one_that_does() {
    // Without a preemption no update is torn.
    let lab = Lab::lost_update(2, 1);
    let only_whole = Options {
        strategy_options: StrategyOptions { preemption_bound: Some(0), ..StrategyOptions::default() },
        ..options(40)
    };
    let comparison = compare(&lab, &["random", "dfs"], 20, &only_whole);
    let [random, dfs] = &comparison.contestants[..] else { panic!("two strategies") };
    assert_eq!((random.failed(), dfs.failed()), (20, 0));
    assert!(dfs.trials.iter().all(|trial| trial.end == TrialEnd::Exhausted));
    assert!(random.trials.iter().all(|trial| matches!(trial.end, TrialEnd::Failed(_))));
    let versus = comparison.versus(1).unwrap();
    assert_eq!(comparison.versus(0), None);
    assert_eq!(versus.test.used + versus.test.zeros, 20);
    assert_eq!(versus.corrected_p, versus.test.p, "one comparison needs no correction");
    assert!(versus.delta <= 0.0, "{versus:?}");
    // One execution exhausts the bounded search, so a failure in the first is all that is certain.
    let early = random.trials.iter().filter(|it| it.measure.at_least() <= 1).count();
    assert_eq!(versus.test.used, early);
    assert_eq!(versus.magnitude, Magnitude::of(-(early as f64) / 20.0));
}

#[test]
fn an_interrupt_keeps_the_trials_that_ended() {
    let lab =
        Lab::ill_mannered(2, 1, Manners { stops_after: Some(WARM_UP as usize + 12), ..Manners::default() });
    let comparison = compare(&lab, &["random", "pos"], 1000, &options(5));
    assert!(comparison.interrupted);
    let counts: Vec<usize> = comparison.contestants.iter().map(|it| it.trials.len()).collect();
    assert!(counts[0] >= 1 && counts[0] < 1000 && counts[0] - counts[1] <= 1, "{counts:?}");
}

#[test]
fn names_are_checked_before_anything_runs() {
    let lab = Lab::lost_update(2, 1);
    let result = run_all(
        &lab,
        &|it| hunt(&lab, it),
        &names(&["random", "nosuch"]),
        3,
        &options(5),
        &|_| {},
        &lab.0.stop,
    );
    assert!(matches!(result, Err(ExploreError::UnknownStrategy(name)) if name == "nosuch"));
    assert_eq!(lab.0.launches.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[test]
fn a_time_limit_is_reported() {
    let lab = Lab::locked_update(2, Manners::default());
    let timed = Options { time: Some(Duration::ZERO), ..options(1000) };
    let comparison = compare(&lab, &["random"], 2, &timed);
    assert!(comparison.contestants[0].trials.iter().all(|trial| trial.end == TrialEnd::Time));
}
