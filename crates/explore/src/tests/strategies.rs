//! What the table of strategies says, against what they do.

use std::collections::BTreeSet;

use threadbare_trace::FailureKind;
use threadbare_wire::SwitchRecord;

use super::toy_runner::{Lab, Manners};
use super::{campaign, options};
use crate::options::Options;
use crate::strategies::{
    Claim, DEFAULT, Group, OF_VERIFY, Row, StrategyOption, StrategyOptions, TABLE, claim_of, find,
};

#[test]
fn names_are_given_once_and_groups_are_listed_one_after_the_other() {
    let names: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), TABLE.len());
    assert!(TABLE.is_sorted_by_key(|row| Group::ALL.iter().position(|group| *group == row.group)));
    let first: Vec<&str> = TABLE.iter().filter(|it| it.group == Group::First).map(|it| it.name).collect();
    assert_eq!(first, ["auto", "random", "pct", "pos", "surw", "total"]);
    assert!([DEFAULT, OF_VERIFY].iter().all(|name| names.contains(name)));
}

#[test]
fn a_strategy_is_exhausted_only_if_it_may_claim_something() {
    for row in TABLE {
        let result = campaign(&Lab::locked_update(2, Manners::default()), &options(row.name, 500)).unwrap();
        assert_eq!(result.exhausted, row.claim != Claim::Nothing, "{}: {:?}", row.name, result.warnings);
    }
}

/// The options with another value for one that only some strategies read.
fn changed(option: StrategyOption, strategy: &str) -> Options {
    let mut options = Options { keep_going: true, ..options(strategy, 60) };
    let own: &mut StrategyOptions = &mut options.strategy_options;
    match option {
        StrategyOption::PctDepth => own.pct_depth = 7,
        StrategyOption::Probability => own.delay_probability = 0.7,
        StrategyOption::ArsWidth => own.ars_width = 1,
        StrategyOption::NoSnapshots => own.snapshots = false,
        StrategyOption::NoCheckpoints => options.checkpoint_gap = None,
        StrategyOption::PreemptionBound => own.preemption_bound = Some(0),
    }
    options
}

/// What a campaign found, and what it took.
type Outcome = (u64, u64, Vec<(FailureKind, u64)>, Vec<(u64, Vec<SwitchRecord>)>);

fn outcome(options: &Options) -> Outcome {
    let result = campaign(&Lab::ill_mannered(3, 2, Manners::default()), options).unwrap();
    let found = result.found.iter().map(|found| (found.execution, found.run.switches.clone())).collect();
    (result.executions, result.steps, result.failures, found)
}

#[test]
fn an_option_that_a_strategy_does_not_read_changes_nothing() {
    for row in TABLE {
        let usual = outcome(&Options { keep_going: true, ..options(row.name, 60) });
        for option in StrategyOption::ALL.into_iter().filter(|option| !row.reads.contains(option)) {
            let name = option.name();
            assert_eq!(outcome(&changed(option, row.name)), usual, "{} reads --{name}", row.name);
        }
    }
}

#[test]
fn an_option_that_nobody_reads_is_reported_with_those_who_would() {
    let row = |name| find(name).unwrap();
    let bounded = changed(StrategyOption::PreemptionBound, "random");
    let sentence = "--preemption-bound changes nothing with random, pos; it is an option of dfs";
    assert_eq!(Row::unread(&[row("random"), row("pos")], &bounded), [sentence]);
    assert!(Row::unread(&[row("random"), row("dfs")], &bounded).is_empty());
    assert!(Row::unread(&[row("random")], &Options::default()).is_empty());
    assert!(StrategyOption::ALL.iter().all(|option| !option.readers().is_empty()));
}

#[test]
fn a_claim_says_what_was_run_and_no_more() {
    assert_eq!(claim_of("dfs").sentence(None), "Every interleaving was run: exhausted.");
    assert_eq!(
        claim_of("dfs").sentence(Some(1)),
        "Every interleaving with at most 1 preemption was run: exhausted within that bound."
    );
    assert_eq!(claim_of("random").sentence(None), "Other interleavings may be left.");
    assert_eq!(
        claim_of("mcr").sentence(None),
        "Whatever the interleaving, no read returns any other value: exhausted."
    );
}
