//! Directed testing for synchronization pairs.

use threadbare_sched::toy::{Toy, ToyStep as Step};

use super::toy_runner::{Lab, Manners};
use super::{campaign, options};
use crate::campaign::results::Campaign;
use crate::options::Options;

const FORMS: [&str; 3] = ["tsa", "tsa-h", "tsa-paper"];

/// Figure 2 of the paper, with this many critical sections in each of this many threads.
fn sections(threads: usize, times: usize) -> Lab {
    let section = [Step::Lock(1000), Step::Unlock(1000)].repeat(times);
    // The code of each thread lies behind that of the one before; no other thread runs it.
    let thread = |index: usize| {
        let before = vec![Step::Write(8 * (1 + index as u64)); index * section.len()];
        [before, section.clone()].concat()
    };
    Lab::new(Toy { threads: (0..threads).map(thread).collect() }, None, Manners::default())
}

fn measured(lab: &Lab, strategy: &str, seed: u64, executions: u64) -> Campaign {
    let coverage = vec!["sp".to_string()];
    let options = Options { seed, coverage, ..options(strategy, executions) };
    campaign(lab, &options).unwrap()
}

/// How many executions it takes to cover all there is.
fn needed(strategy: &str, seed: u64, lab: &Lab, all: u64) -> u64 {
    let result = measured(lab, strategy, seed, 2000);
    let history = &result.coverage[0].history;
    let last = history.iter().find(|point| point.covered == all);
    last.unwrap_or_else(|| panic!("{strategy}, seed {seed}: {history:?}")).executions
}

#[test]
fn all_pairs_of_the_papers_example_are_covered_in_a_few_executions() {
    for strategy in FORMS {
        for seed in 0..20 {
            let executions = needed(strategy, seed, &sections(2, 2), 10);
            // Four executions can do, and one more estimates.
            assert!(executions <= 14, "{strategy}, seed {seed}: {executions}");
        }
    }
}

#[test]
fn directed_executions_cover_with_far_fewer_than_random_ones() {
    // Four threads with four sections: 3 pairs in each thread and 4 x 4 for any two of them, in either order.
    let all = 4 * 3 + 4 * 3 * 16;
    let sum = |strategy| (1..=5).map(|seed| needed(strategy, seed, &sections(4, 4), all)).sum::<u64>();
    let (directed, random) = (sum("tsa"), sum("random"));
    assert!(directed * 2 < random, "{directed} against {random}");
}

#[test]
fn each_rule_is_counted() {
    for strategy in FORMS {
        let result = measured(&sections(3, 3), strategy, 1, 50);
        assert!(result.effort.rules.iter().all(|fired| *fired > 0), "{strategy}: {:?}", result.effort);
    }
    assert_eq!(measured(&sections(3, 3), "random", 1, 50).effort.rules, [0; 3]);
}

#[test]
fn executions_run_side_by_side_once_pairs_are_rare_and_nothing_depends_on_it() {
    let figures = |jobs| {
        let coverage = vec!["sp".to_string()];
        let options = Options { jobs, coverage, ..options("tsa", 200) };
        let result = campaign(&sections(3, 3), &options).unwrap();
        let history = result.coverage[0].history.iter().map(|point| (point.executions, point.covered));
        (history.collect::<Vec<_>>(), result.effort, result.executions)
    };
    assert_eq!(figures(1), figures(4));
}
