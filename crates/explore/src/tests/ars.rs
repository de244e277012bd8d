//! Adaptive randomized scheduling: what is cut is never missed, and snapshots only save time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use threadbare_sched::Rng;
use threadbare_sched::toy::{Toy, ToyStep as Step};

use super::oracle::interleavings;
use super::toy_runner::{Lab, Manners};
use super::{campaign, options};
use crate::campaign::results::CampaignVerdict;
use crate::options::Options;
use crate::strategies::StrategyOptions;

const STYLES: [&str; 2] = ["ars", "ars-paper"];

/// Two or three threads that read and write two locations, some of it under a lock.
fn made_up(rng: &mut Rng) -> Toy {
    let threads = 2 + rng.below(2) as usize;
    let some = |rng: &mut Rng| {
        let step = |rng: &mut Rng| {
            let location = 8 + 8 * rng.below(2);
            if rng.below(2) == 0 { Step::Read(location) } else { Step::Write(location) }
        };
        let mut steps: Vec<Step> = (0..2 + rng.below(2)).map(|_| step(rng)).collect();
        if rng.below(3) == 0 {
            steps.insert(0, Step::Lock(1000));
            steps.push(Step::Unlock(1000));
        }
        steps
    };
    Toy { threads: (0..threads).map(|_| some(rng)).collect() }
}

/// What a run of the toy leaves behind: what each thread has read, and the memory.
fn outcome(toy: &Toy, word: &str) -> (Vec<Vec<u64>>, BTreeMap<u64, u64>) {
    let mut memory = BTreeMap::new();
    let mut reads = vec![Vec::new(); toy.threads.len()];
    let mut next = vec![0; toy.threads.len()];
    for thread in word.bytes().map(|byte| usize::from(byte - b'0')) {
        match toy.threads[thread][next[thread]] {
            Step::Read(x) => reads[thread].push(memory.get(&x).copied().unwrap_or(0)),
            Step::Write(x) => {
                memory.insert(x, reads[thread].last().copied().unwrap_or(0) + 1);
            }
            _ => {}
        }
        next[thread] += 1;
    }
    (reads, memory)
}

#[test]
fn every_outcome_is_reached_although_most_interleavings_are_cut() {
    let mut rng = Rng::new(11);
    let (mut executions, mut all) = (0, 0);
    for _ in 0..10 {
        let toy = made_up(&mut rng);
        let words = interleavings(&toy);
        let expected: BTreeSet<_> = words.keys().map(|word| outcome(&toy, word)).collect();
        let budget = 200;
        let lab = Lab::new(toy.clone(), None, Manners::default());
        let options = Options { keep_going: true, ..options("ars", budget) };
        campaign(&lab, &options).unwrap();
        let seen: BTreeSet<_> = lab.seen().iter().map(|seen| outcome(&toy, &seen.word)).collect();
        assert_eq!(seen, expected, "{toy:?}");
        executions += budget;
        all += words.len() as u64;
    }
    assert!(executions < all, "{executions} executions for {all} interleavings cut nothing");
}

#[test]
fn snapshots_save_time_and_change_nothing() {
    let mut rng = Rng::new(5);
    for style in STYLES {
        for _ in 0..6 {
            let toy = made_up(&mut rng);
            let words = |snapshots: bool, refuses_copies: bool| {
                let lab = Lab::new(toy.clone(), Some(2), Manners { refuses_copies, ..Manners::default() });
                let strategy_options = StrategyOptions { snapshots, ..StrategyOptions::default() };
                let options = Options { keep_going: true, strategy_options, ..options(style, 40) };
                let campaign = campaign(&lab, &options).unwrap();
                let failures: Vec<u64> = campaign.found.iter().map(|found| found.execution).collect();
                let words: Vec<String> = lab.seen().into_iter().map(|seen| seen.word).collect();
                (words, failures, campaign.executions)
            };
            let with = words(true, false);
            assert_eq!(with, words(false, false), "{style} {toy:?}");
            assert_eq!(with, words(true, true), "{style} {toy:?}");
        }
    }
}

#[test]
fn there_are_never_more_snapshots_than_the_queue_is_wide_and_a_few() {
    for style in STYLES {
        for ars_width in [1, 5] {
            let lab = Lab::lost_update(7, 3);
            let strategy_options = StrategyOptions { ars_width, ..StrategyOptions::default() };
            let options = Options { keep_going: true, strategy_options, ..options(style, 60) };
            let campaign = campaign(&lab, &options).unwrap();
            assert!(campaign.snapshots > 60);
            let most = lab.0.most_snapshots.load(Ordering::Relaxed);
            assert!((1..=ars_width + 4).contains(&most), "{most} snapshots at width {ars_width}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_search() {
    for style in STYLES {
        let words = |seed| {
            let lab = Lab::lost_update(3, 2);
            campaign(&lab, &Options { keep_going: true, seed, ..options(style, 30) }).unwrap();
            lab.seen().into_iter().map(|seen| seen.word).collect::<Vec<_>>()
        };
        assert_eq!(words(7), words(7));
        assert_ne!(words(7), words(8));
    }
}

#[test]
fn a_lost_update_is_found_and_a_correct_program_is_not_blamed() {
    for style in STYLES {
        let found = campaign(&Lab::lost_update(2, 1), &options(style, 50)).unwrap();
        assert_eq!(found.verdict, CampaignVerdict::Failure, "{style}");
        let correct = Lab::locked_update(3, Manners::default());
        let clean = campaign(&correct, &options(style, 50)).unwrap();
        assert_eq!((clean.verdict, clean.executions), (CampaignVerdict::Clean, 50), "{style}");
    }
}

#[test]
fn a_deadlock_is_predicted_and_then_made() {
    let (one, other) = (1000, 2000);
    let both = |a, b| vec![Step::Lock(a), Step::Lock(b), Step::Unlock(b), Step::Unlock(a)];
    for seed in 1..=30 {
        let lab =
            Lab::new(Toy { threads: vec![both(one, other), both(other, one)] }, None, Manners::default());
        let found = campaign(&lab, &Options { seed, ..options("ars", 50) }).unwrap();
        assert_eq!(found.verdict, CampaignVerdict::Failure);
        // The first execution is a random one, and the second is the first to know what the threads do.
        assert!(found.executions <= 3, "{} executions with seed {seed}", found.executions);
    }
}
