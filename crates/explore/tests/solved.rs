//! Strategies that reason about values, on real programs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use threadbare_explore::{Campaign, CampaignVerdict, Options, hunt};
use threadbare_target::resolve;

fn campaign(subject: &str, strategy: &str, seed: u64, executions: u64) -> Campaign {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects").join(subject);
    let folder = tempfile::tempdir().unwrap();
    let program = resolve(&source, &[], folder.path()).unwrap();
    let strategy = strategy.to_string();
    let time = Some(Duration::from_secs(600));
    let options = Options { strategy, seed, executions, time, ..Options::default() };
    hunt(&program, &options, &|_| {}, &Arc::default()).unwrap()
}

/// Uniformly random executions fail once in half a million.
#[test]
fn what_takes_the_right_value_at_every_step_is_found_in_less_than_100_executions() {
    for strategy in ["mcr", "pcr"] {
        for seed in 1..=5 {
            let result = campaign("extra/rvexample/rvexample.c", strategy, seed, 99);
            println!("{strategy}, seed {seed}: {} executions", result.executions);
            assert_eq!(result.verdict, CampaignVerdict::Failure, "{strategy}, seed {seed}");
        }
    }
}

/// The compiler announces the write to shared memory, then a read of private memory, and then does both: the thread
/// must not be stopped between the two.
#[test]
fn a_write_has_happened_when_its_thread_is_stopped_after_it() {
    let result = campaign("pcr/number_axis/number_axis.cpp", "mcr", 1, 50);
    assert_eq!(result.verdict, CampaignVerdict::Failure, "{:?}", result.warnings);
}

#[test]
fn loops_that_wait_for_others_come_to_an_end_and_nothing_is_claimed() {
    for subject in ["extra/atomic_publish/atomic_publish.c", "extra/peterson_correct/peterson_correct.c"] {
        let result = campaign(subject, "mcr", 1, 100);
        assert_eq!((result.verdict, result.exhausted), (CampaignVerdict::Clean, false), "{subject}");
    }
}

/// Without a solver: threads are held back until a read sees what decides a branch.
#[test]
fn total_replay_as_published_finds_what_a_branch_depends_on() {
    let result = campaign("../examples/lost_update.c", "total-paper", 1, 50);
    assert_eq!(result.verdict, CampaignVerdict::Failure, "{:?}", result.warnings);
    let result = campaign("total/pool/pool.c", "total-paper", 1, 50);
    assert!((3..50).contains(&result.executions), "{} executions", result.executions);
    assert!(!result.exhausted, "without a solver nothing can be claimed");
}
