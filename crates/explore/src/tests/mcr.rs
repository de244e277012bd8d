//! What reasoning about values reaches is compared with running every interleaving.

use std::collections::BTreeSet;

use threadbare_sched::Rng;
use threadbare_sched::toy::{Toy, ToyStep as Step};

use super::toy_runner::{Lab, LabExecution, Manners};
use super::{campaign, options};
use crate::campaign::{Campaign, CampaignVerdict};
use crate::options::Options;

/// Programs with more interleavings are not compared: running them all takes too long.
const MOST: u64 = 20_000;

/// The states of threads: each with what it has read, place and value.
type Stand = Vec<(usize, Vec<(u64, u64)>)>;

/// Everything that a thread can get to see or that all can end in.
#[derive(PartialEq, Eq, Debug, Default)]
struct Reached {
    /// The states of each thread: what it has done and seen so far.
    states: BTreeSet<(usize, Vec<(u64, u64)>)>,
    failures: BTreeSet<u16>,
    /// The states of the blocked threads in deadlocks.
    deadlocks: BTreeSet<Stand>,
}

fn reached(seen: &[LabExecution]) -> Reached {
    let mut reached = Reached::default();
    for seen in seen {
        for (thread, local) in seen.local.iter().enumerate() {
            let states = (0..=local.len()).map(|length| (thread, local[..length].to_vec()));
            reached.states.extend(states);
        }
        reached.failures.extend(seen.failed.map(|thread| thread.0));
        if seen.deadlock {
            let waiting = seen.local.iter().cloned().enumerate().filter(|(thread, _)| !seen.ended[*thread]);
            reached.deadlocks.insert(waiting.collect());
        }
    }
    reached
}

/// Runs a strategy to its end.
fn explore(toy: &Toy, strategy: &str) -> (Campaign, Reached) {
    let lab = Lab::new(toy.clone(), None, Manners { all_shared: true, ..Manners::default() });
    let options = Options { keep_going: true, ..options(strategy, MOST) };
    let result = campaign(&lab, &options).unwrap();
    let reached = reached(&lab.seen());
    (result, reached)
}

/// Threads that act on what they read, some of it under locks, and a last one that looks at what is left.
pub(super) fn made_up(rng: &mut Rng, threads: usize, length: usize) -> Toy {
    let mut lists: Vec<Vec<Step>> = Vec::new();
    for _ in 0..threads {
        let mut steps = Vec::new();
        while steps.len() < length {
            let x = 8 * (1 + rng.below(2));
            match rng.below(8) {
                0 | 1 => steps.push(Step::Read(x)),
                2 => steps.push(Step::Write(x)),
                3 => steps.push(Step::Store(x, rng.below(3))),
                4 | 5 => {
                    let value = rng.below(3);
                    steps.extend([Step::Read(x), Step::SkipIf(value, 1), Step::Store(x, 5)]);
                }
                6 => {
                    let lock = 1000 + rng.below(2);
                    steps.extend([Step::Lock(lock), Step::Read(x), Step::Write(x), Step::Unlock(lock)]);
                }
                _ => steps.extend([
                    Step::Lock(1000),
                    Step::Lock(1001),
                    Step::Write(x),
                    Step::Unlock(1001),
                    Step::Unlock(1000),
                ]),
            }
        }
        if rng.below(3) == 0 {
            steps.extend([Step::Read(8), Step::SkipIf(1, 2), Step::SkipIf(0, 1), Step::Fail]);
        }
        if rng.below(4) == 0 {
            steps.extend([Step::Lock(1001), Step::Lock(1000), Step::Unlock(1000), Step::Unlock(1001)]);
        }
        lists.push(steps);
    }
    let mut last: Vec<Step> = (0..threads as u16).map(Step::Join).collect();
    last.extend([Step::Read(8), Step::Read(16)]);
    lists.push(last);
    Toy { threads: lists }
}

/// A made-up program whose interleavings can all be run: every fourth has three threads.
pub(super) fn small(seed: u64) -> Toy {
    let threads = 2 + usize::from(seed.is_multiple_of(4));
    made_up(&mut Rng::new(seed), threads, if threads == 2 { 4 } else { 2 })
}

#[test]
fn every_state_and_failure_is_reached_that_any_interleaving_reaches() {
    let (mut executions, mut interleavings) = (0, 0);
    let (mut compared, mut deadlocks, mut failures) = (0, 0, 0);
    for seed in 0..120 {
        let toy = small(seed);
        let (all, expected) = explore(&toy, "dfs");
        if !all.exhausted {
            continue;
        }
        compared += 1;
        let (result, found) = explore(&toy, "mcr");
        // A thread that others always bring down before it can begin may be able to do anything.
        let is_brought_down = !expected.failures.is_empty();
        assert!(result.exhausted || is_brought_down, "seed {seed}: {:?}", result.warnings);
        assert_eq!(found.failures, expected.failures, "seed {seed}: {toy:?}");
        assert_eq!(found.states, expected.states, "seed {seed}: {toy:?}");
        assert_eq!(found.deadlocks, expected.deadlocks, "seed {seed}: {toy:?}");
        assert!(result.executions <= all.executions + 2, "seed {seed}");
        executions += result.executions;
        interleavings += all.executions;
        deadlocks += usize::from(!expected.deadlocks.is_empty());
        failures += usize::from(!expected.failures.is_empty());
    }
    println!("{compared} programs: {executions} executions for {interleavings} interleavings");
    assert!(compared > 80, "{compared}");
    assert!(deadlocks > 5 && failures > 5, "{deadlocks} programs deadlock, {failures} fail");
    assert!(executions * 20 < interleavings);
}

#[test]
fn no_prefix_is_run_twice() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let toy = made_up(&mut rng, 2, 4);
        let lab = Lab::new(toy, None, Manners { all_shared: true, ..Manners::default() });
        let options = Options { keep_going: true, ..options("mcr", 100_000) };
        campaign(&lab, &options).unwrap();
        // The very first execution only looks for shared memory.
        let prefixes: Vec<_> = lab.seen().into_iter().skip(1).map(|seen| seen.turns).collect();
        let different: BTreeSet<_> = prefixes.iter().collect();
        assert_eq!(different.len(), prefixes.len(), "seed {seed}");
    }
}

#[test]
fn loops_that_wait_are_followed_a_few_times_only_and_nothing_is_claimed() {
    let waits = vec![Step::Read(8), Step::BackIf(0, 1), Step::Read(16), Step::SkipIf(1, 1), Step::Fail];
    let sets = vec![Step::Store(16, 1), Step::Store(8, 1)];
    let toy = Toy { threads: vec![waits, sets] };
    let (result, found) = explore(&toy, "mcr");
    assert!(found.failures.is_empty());
    assert!(result.executions < 30, "{}", result.executions);
    assert_eq!((result.verdict, result.exhausted), (CampaignVerdict::Clean, false));
    assert!(result.warnings.iter().any(|warning| warning.contains("loops")), "{:?}", result.warnings);
}

#[test]
fn a_budget_that_just_suffices_is_enough_to_claim() {
    let lab = || Lab::locked_update(3, Manners::default());
    let needed = campaign(&lab(), &options("mcr", 100_000)).unwrap();
    assert_eq!(needed.verdict, CampaignVerdict::Exhausted);
    assert_eq!(
        campaign(&lab(), &options("mcr", needed.executions)).unwrap().verdict,
        CampaignVerdict::Exhausted
    );
    assert_eq!(
        campaign(&lab(), &options("mcr", needed.executions - 1)).unwrap().verdict,
        CampaignVerdict::Clean
    );
}

#[test]
fn executions_out_of_control_void_the_claim() {
    let manners = Manners { uncontrolled_every: Some(5), ..Manners::default() };
    let result = campaign(&Lab::locked_update(3, manners), &options("mcr", 100_000)).unwrap();
    assert_eq!((result.verdict, result.exhausted), (CampaignVerdict::Clean, false));
    assert!(result.warnings.iter().any(|warning| warning.contains("control")), "{:?}", result.warnings);
}

/// The values that the first thread needs come from paths of the others that no execution shows together.
#[test]
fn what_only_several_executions_together_show_is_reached() {
    // A lock-free version of the example in the module's description: two threads must each have seen the other's
    // early value, and a third their late ones.
    let toy = Toy {
        threads: vec![
            vec![Step::Read(8), Step::SkipIf(0, 1), Step::Store(16, 7), Step::Store(24, 1)],
            vec![Step::Read(24), Step::SkipIf(0, 1), Step::Store(8, 1), Step::Read(16)],
            vec![Step::Store(8, 2), Step::Read(16), Step::SkipIf(7, 1), Step::Store(24, 2)],
        ],
    };
    let (all, expected) = explore(&toy, "dfs");
    let (result, found) = explore(&toy, "mcr");
    assert!(all.exhausted && result.exhausted);
    assert_eq!(found.states, expected.states);
}
