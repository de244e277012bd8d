//! What reachability testing reaches is compared with running every interleaving.

use std::collections::BTreeSet;

use threadbare_sched::Rng;
use threadbare_sched::toy::{Toy, ToyStep as Step};

use super::mcr::{made_up, small};
use super::toy_runner::{Lab, LabExecution, Manners};
use super::{campaign, options};
use crate::campaign::{Campaign, CampaignVerdict};
use crate::options::Options;

/// Programs with more interleavings are not compared: running them all takes too long.
const MOST: u64 = 20_000;

/// How an execution can end: what every thread did and saw, or, where one brought all others down, only that one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Ended { local: Vec<Vec<(u64, u64)>>, deadlock: bool },
    Failed { thread: u16, local: Vec<(u64, u64)> },
}

fn outcome(seen: &LabExecution) -> Outcome {
    match seen.failed {
        Some(thread) => Outcome::Failed { thread: thread.0, local: seen.local[thread.index()].clone() },
        None => Outcome::Ended { local: seen.local.clone(), deadlock: seen.deadlock },
    }
}

fn explore(toy: &Toy, strategy: &str) -> (Campaign, BTreeSet<Outcome>) {
    let lab = Lab::new(toy.clone(), None, Manners { all_shared: true, ..Manners::default() });
    let options = Options { keep_going: true, ..options(strategy, MOST) };
    let result = campaign(&lab, &options).unwrap();
    (result, lab.seen().iter().map(outcome).collect())
}

#[test]
fn every_outcome_is_reached_that_any_interleaving_has() {
    let (mut executions, mut interleavings, mut outcomes) = (0, 0, 0);
    let (mut compared, mut deadlocks, mut failures) = (0, 0, 0);
    for seed in 0..80 {
        let toy = small(seed);
        let (all, expected) = explore(&toy, "dfs");
        if !all.exhausted {
            continue;
        }
        compared += 1;
        let (result, found) = explore(&toy, "reach");
        assert!(result.exhausted, "seed {seed}: {:?}", result.warnings);
        assert!(result.executions <= all.executions + 2, "seed {seed}: {}", result.executions);
        let missing: Vec<&Outcome> = expected.difference(&found).collect();
        assert!(missing.is_empty(), "seed {seed}: {missing:?} of {toy:?}");
        let (pairs, by_pairs) = explore(&toy, "tpair");
        assert!(by_pairs.is_subset(&found) && !pairs.exhausted, "seed {seed}");
        assert!(pairs.warnings.is_empty(), "seed {seed}: {:?}", pairs.warnings);
        executions += result.executions;
        interleavings += all.executions;
        outcomes += found.len() as u64;
        deadlocks +=
            usize::from(expected.iter().any(|it| matches!(it, Outcome::Ended { deadlock: true, .. })));
        failures += usize::from(expected.iter().any(|it| matches!(it, Outcome::Failed { .. })));
    }
    println!(
        "{compared} programs: {executions} executions for {outcomes} outcomes of {interleavings} interleavings"
    );
    assert!(compared > 60, "{compared}");
    assert!(deadlocks > 5 && failures > 5, "{deadlocks} programs deadlock, {failures} fail");
    assert!(executions * 4 < interleavings);
}

#[test]
fn one_execution_suffices_for_each_order_of_two_sections() {
    let result = campaign(&Lab::locked_update(3, Manners::default()), &options("reach", 100_000)).unwrap();
    assert_eq!(result.verdict, CampaignVerdict::Exhausted);
    // A probe, whatever had to be begun anew, and one for each of the six orders.
    assert!(result.executions <= 6 + 2, "{}", result.executions);
    assert!(result.effort.graph.nodes > 0 && result.effort.graph.bytes >= 4 * result.effort.graph.nodes);
}

#[test]
fn pairs_do_not_show_what_takes_three_threads() {
    // The last thread fails only if it comes between the others' stores, and these after each other.
    let toy = Toy {
        threads: vec![
            vec![Step::Store(8, 1)],
            vec![Step::Read(8), Step::SkipIf(0, 1), Step::Store(16, 1)],
            vec![Step::Read(16), Step::SkipIf(0, 1), Step::Fail],
        ],
    };
    let (all, expected) = explore(&toy, "dfs");
    let (reach, found) = explore(&toy, "reach");
    assert!(all.exhausted && reach.exhausted);
    assert_eq!(found, expected);
    let (pairs, _) = explore(&toy, "tpair");
    assert!(pairs.executions <= reach.executions);
}

#[test]
fn no_order_is_run_twice() {
    let mut looked_at = 0;
    for seed in 0..60 {
        let toy = made_up(&mut Rng::new(seed), 2, 4);
        let lab = Lab::new(toy, None, Manners { all_shared: true, ..Manners::default() });
        let options = Options { keep_going: true, ..options("reach", 100_000) };
        let result = campaign(&lab, &options).unwrap();
        // Where an execution breaks off, a thread is scheduled that may not be runnable.
        if lab.seen().iter().any(|seen| seen.deadlock || seen.failed.is_some()) || result.executions > 64 {
            continue;
        }
        looked_at += 1;
        // The very first execution only looks for shared memory.
        let orders: Vec<String> = lab.seen().into_iter().skip(1).map(|seen| seen.word).collect();
        let different: BTreeSet<&String> = orders.iter().collect();
        assert_eq!(different.len(), orders.len(), "seed {seed}: {orders:?}");
    }
    assert!(looked_at > 20, "{looked_at}");
}

#[test]
fn a_loop_that_waits_has_ever_more_variants() {
    let waits = vec![Step::Read(8), Step::BackIf(0, 1)];
    let toy = Toy { threads: vec![waits, vec![Step::Store(8, 1)]] };
    let lab = Lab::new(toy, None, Manners { all_shared: true, ..Manners::default() });
    let result = campaign(&lab, &options("reach", 12)).unwrap();
    assert_eq!((result.verdict, result.executions), (CampaignVerdict::Clean, 12));
}

#[test]
fn executions_out_of_control_void_the_claim() {
    let manners = Manners { uncontrolled_every: Some(5), ..Manners::default() };
    let result = campaign(&Lab::locked_update(3, manners), &options("reach", 100_000)).unwrap();
    assert_eq!((result.verdict, result.exhausted), (CampaignVerdict::Clean, false));
    assert!(result.warnings.iter().any(|warning| warning.contains("control")), "{:?}", result.warnings);
}
