//! Closures repeated inside one process, driven as `threadbare hunt` drives them.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use threadbare_explore::{Campaign, CampaignVerdict, Options, hunt, races};
use threadbare_target::{Program, compile, resolve};
use threadbare_trace::FailureKind;

/// The program, with one of its closures.
fn program(closure: &str) -> Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/closures.rs");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("closures");
        let executable = compile(&source, &[], &folder).unwrap_or_else(|error| panic!("{error}"));
        resolve(&executable, &[], &folder).unwrap_or_else(|error| panic!("{error}"))
    });
    Program { args: vec![closure.to_string()], ..program.clone() }
}

fn campaign(closure: &str, options: &Options) -> Campaign {
    let stop = Arc::new(AtomicBool::new(false));
    hunt(&program(closure), options, &|_| {}, &stop).unwrap_or_else(|error| panic!("{error}"))
}

fn options(executions: u64) -> Options {
    Options { executions, ..Options::default() }
}

#[test]
fn a_lost_update_is_found_in_process_and_fails_again_in_a_process_of_its_own() {
    for seed in 1..=5 {
        let campaign = campaign("lost update", &Options { seed, ..options(200) });
        let found = &campaign.found[0];
        assert_eq!(found.policy, "mixed, in process", "seed {seed}");
        assert!(!found.run.events.is_empty(), "what is kept is the run from the snapshot, with its events");
        assert_eq!(campaign.warnings, Vec::<String>::new());
    }
}

#[test]
fn every_strategy_that_needs_nobody_outside_repeats() {
    for (strategy, name) in [("random", "random"), ("pct", "pct"), ("pos", "pos"), ("surw", "urw")] {
        let campaign = campaign("lost update", &Options { strategy: strategy.to_string(), ..options(1000) });
        assert_eq!(campaign.found[0].policy, format!("{name}, in process"));
    }
    let outside = campaign("lost update", &Options { strategy: "ars".to_string(), ..options(1000) });
    assert!(!outside.found[0].policy.contains("in process"));
}

#[test]
fn the_same_seed_finds_the_same() {
    let found = |seed| {
        let campaign = campaign("lost update", &Options { seed, ..options(200) });
        (campaign.found[0].execution, campaign.found[0].run.switches.clone())
    };
    assert_eq!(found(3), found(3));
}

#[test]
fn a_deadlock_ends_the_copy_and_is_reported() {
    let campaign = campaign("deadlock", &options(500));
    let failure = campaign.found[0].run.outcome.failure().map(|failure| failure.kind);
    assert_eq!(failure, Some(FailureKind::Deadlock));
}

#[test]
fn a_lock_can_be_found_taken_although_nothing_else_happens_under_it() {
    for (strategy, seeds) in [("auto", 1..=5), ("random", 1..=5)] {
        for seed in seeds {
            let options = Options { seed, strategy: strategy.to_string(), ..options(1_000) };
            assert_eq!(
                campaign("try-lock", &options).verdict,
                CampaignVerdict::Failure,
                "{strategy}, seed {seed}"
            );
        }
    }
}

#[test]
fn what_comes_after_the_closure_counts() {
    assert_eq!(campaign("fails afterwards", &options(200)).verdict, CampaignVerdict::Failure);
    let second = campaign("second closure", &options(200));
    assert_eq!((second.verdict, second.executions > 180), (CampaignVerdict::Failure, true));
    assert!(second.warnings.iter().any(|warning| warning.contains("only the first closure")));
}

#[test]
fn what_the_library_does_to_end_threads_is_no_race() {
    let found = |closure: &str| {
        let stop = Arc::new(AtomicBool::new(false));
        let check = races(&program(closure), &options(60), &stop).unwrap_or_else(|error| panic!("{error}"));
        check.findings.len()
    };
    assert_eq!(["scope", "waiters", "right"].map(found), [0; 3]);
    assert!(found("race in a scope") > 0);
}

#[test]
fn a_right_closure_passes_thousands_of_times() {
    let campaign = campaign("right", &options(5_000));
    assert_eq!((campaign.verdict, campaign.executions), (CampaignVerdict::Clean, 5_000));
    assert_eq!(campaign.warnings, Vec::<String>::new());
    assert_eq!(campaign.threads, 3);
}

#[test]
fn a_closure_that_changes_a_static_gets_a_process_for_each_execution() {
    let campaign = campaign("counts its calls", &options(50));
    assert_eq!(campaign.verdict, CampaignVerdict::Clean, "in a process of its own every call is the first");
    assert!(campaign.warnings[0].contains("CALLS"), "{:?}", campaign.warnings);
    assert_eq!(campaign.executions, 50);
}

#[test]
fn a_closure_that_leaves_a_thread_gets_a_process_for_each_execution() {
    let campaign = campaign("leaves a thread", &options(20));
    assert_eq!(campaign.verdict, CampaignVerdict::Clean);
    assert!(campaign.warnings[0].contains("leaves threads running"), "{:?}", campaign.warnings);
}

#[test]
fn wishes_count_where_the_options_heed_them() {
    let heeding = campaign("wishes", &Options { heeds_wishes: true, ..options(77) });
    assert_eq!(heeding.executions, 123);
    assert_eq!(campaign("wishes", &options(77)).executions, 77);
}

#[test]
fn a_closure_without_threads_makes_no_step() {
    assert_eq!(campaign("no threads", &options(10)).steps, 0);
}
