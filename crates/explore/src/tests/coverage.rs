//! What campaigns cover, over executions, and who gets there how.

use super::toy_runner::{Lab, Manners};
use super::{campaign, options};
use crate::campaign::results::CampaignVerdict;
use crate::coverage::Covered;
use crate::error::ExploreError;
use crate::options::Options;
use crate::saturation::{SaturationRule, Window};

fn covered(strategy: &str, executions: u64) -> (Covered, crate::SearchEffort) {
    let lab = Lab::ill_mannered(2, 2, Manners { all_shared: true, ..Manners::default() });
    let coverage = vec!["map".to_string()];
    let options = Options { keep_going: true, coverage, ..options(strategy, executions) };
    let result = campaign(&lab, &options).unwrap();
    (result.coverage.into_iter().next().unwrap(), result.effort)
}

#[test]
fn every_strategy_is_measured_and_coverage_never_shrinks() {
    for strategy in ["random", "pos", "auto", "dfs", "mcr", "pcr", "map-random"] {
        let (map, _) = covered(strategy, 60);
        assert!(map.covered > 0 && map.covered <= map.total.number(), "{strategy}: {map:?}");
        assert_eq!(map.history.last().map(|point| point.covered), Some(map.covered), "{strategy}");
        for two in map.history.windows(2) {
            let grows = two[0].executions < two[1].executions && two[0].covered < two[1].covered;
            assert!(grows && two[0].elapsed <= two[1].elapsed, "{strategy}: {two:?}");
        }
    }
}

/// All interleavings together show all there is.
#[test]
fn solving_covers_what_all_interleavings_cover_and_meets_every_aim() {
    let (all, _) = covered("dfs", 10_000);
    let (solved, effort) = covered("pcr", 40);
    assert_eq!(solved.covered, all.covered);
    assert_eq!(effort.met, effort.aimed, "{effort:?}");
    let (held, effort) = covered("map-random", 40);
    assert!(held.covered > 0 && effort.aimed > 30 && effort.questions == 0, "{effort:?}");
}

/// Covered patterns may hide others, so nothing is claimed.
#[test]
fn pcr_comes_to_an_end_and_claims_nothing() {
    let result = campaign(&Lab::locked_update(3, Manners::default()), &options("pcr", 300)).unwrap();
    assert_eq!((result.verdict, result.exhausted), (CampaignVerdict::Clean, false));
    assert!(result.executions < 300);
}

fn until_saturated(strategy: &str, coverage: &[&str], jobs: usize) -> crate::Campaign {
    let lab = Lab::ill_mannered(2, 2, Manners { all_shared: true, ..Manners::default() });
    let options = Options {
        keep_going: true,
        coverage: coverage.iter().map(|name| (*name).to_string()).collect(),
        saturation: SaturationRule { window: Window::Executions(40), coefficient: 0.1 },
        until_saturated: true,
        jobs,
        ..options(strategy, 5000)
    };
    campaign(&lab, &options).unwrap()
}

#[test]
fn every_strategy_and_criterion_can_end_by_saturation() {
    for strategy in ["random", "pct", "pos", "delay-yield", "auto"] {
        for criterion in threadbare_coverage::CRITERIA {
            let result = until_saturated(strategy, &[criterion], 1);
            let point = result.coverage[0].saturation.unwrap();
            assert!(result.saturated && result.executions < 5000, "{strategy} {criterion}");
            assert_eq!((point.executions, point.covered), (result.executions, result.coverage[0].covered));
            assert!(point.executions >= 40, "{strategy} {criterion}: {point:?}");
        }
    }
}

#[test]
fn with_several_criteria_the_last_one_ends_it() {
    let alone = |name| until_saturated("random", &[name], 1).executions;
    let both = until_saturated("random", &["map", "concurrent-pairs"], 1);
    assert!(both.executions >= alone("map").max(alone("concurrent-pairs")));
    assert!(both.coverage.iter().all(|it| it.saturation.is_some()));
}

#[test]
fn saturation_comes_at_the_same_execution_however_many_run_at_once() {
    let figures = |jobs| {
        let result = until_saturated("random", &["map", "def-use"], jobs);
        (result.executions, result.coverage.iter().map(|it| it.covered).collect::<Vec<_>>())
    };
    assert_eq!(figures(1), figures(3));
}

#[test]
fn an_unknown_criterion_is_named() {
    let options = Options { coverage: vec!["mop".to_string()], ..options("random", 1) };
    let error = campaign(&Lab::lost_update(2, 1), &options).unwrap_err();
    assert!(matches!(&error, ExploreError::UnknownCriterion(name) if name == "mop"));
    assert!(error.to_string().contains("use sp, sp-refined, map"), "{error}");
}
