//! Schedules that are solved for show the pattern that was aimed at.

use std::collections::BTreeMap;

use threadbare_patterns::{AccessType, PATTERNS, Pattern, PatternRole, Variable};
use threadbare_sched::Random;
use threadbare_sched::toy::{Toy, ToyStep as Step};

use super::super::{Attempt, Pcr};
use crate::history::History;
use crate::runner::Launch as _;
use crate::search::Steer as _;
use crate::strategy::{Plan, Strategy as _};
use crate::tests::toy_runner::{Lab, Manners};

/// Two threads that make the accesses of a pattern, each in its own order.
fn program_of(pattern: &Pattern) -> Toy {
    let steps = |role: PatternRole| {
        let own = pattern.steps.iter().enumerate().filter(|(_, (by, ..))| *by == role);
        own.map(|(at, (_, manner, variable))| {
            let x = if *variable == Variable::X { 8 } else { 16 };
            match manner {
                AccessType::Reads => Step::Read(x),
                AccessType::Writes => Step::Store(x, at as u64 + 1),
            }
        })
        .collect()
    };
    Toy { threads: vec![steps(PatternRole::A), steps(PatternRole::B)] }
}

/// Runs the search to its end.
fn attempts(toy: &Toy, seed: u64) -> Vec<Attempt> {
    let lab = Lab::new(toy.clone(), None, Manners { all_shared: true, ..Manners::default() });
    let mut runner = lab.launch().ok().unwrap();
    let mut pcr = Pcr::new("pcr", seed, 1, true);
    for number in 1..500 {
        let plans = pcr.plan(number, 1, &History::default());
        let Some(plan) = plans.first() else { break };
        let run = runner.run(plan).unwrap();
        pcr.learn(&[(plan, &run)], false, &|| false).unwrap();
    }
    pcr.reasoning.attempts
}

#[test]
fn where_a_schedule_is_followed_the_pattern_aimed_at_occurs_for_every_pattern() {
    let mut met: BTreeMap<u8, usize> = BTreeMap::new();
    for pattern in PATTERNS {
        for seed in 0..20 {
            for attempt in attempts(&program_of(&pattern), seed) {
                assert!(attempt.met || !attempt.followed, "pattern {}, seed {seed}: {attempt:?}", pattern.id);
                assert!(
                    attempt.followed,
                    "pattern {}, seed {seed}: nothing forces it off its way",
                    pattern.id
                );
                *met.entry(attempt.pattern).or_default() += usize::from(pattern.id == attempt.pattern);
            }
        }
    }
    println!("{met:?}");
    for pattern in PATTERNS {
        assert!(met.get(&pattern.id).is_some_and(|count| *count > 0), "pattern {} was never met", pattern.id);
    }
}

#[test]
fn an_execution_that_leaves_its_schedule_is_used() {
    let thread = vec![Step::Read(8), Step::Store(8, 1), Step::Read(16), Step::Store(16, 2)];
    let toy = Toy { threads: vec![thread.clone(), thread] };
    let lab = Lab::new(toy, None, Manners { all_shared: true, ..Manners::default() });
    let mut runner = lab.launch().ok().unwrap();
    let mut pcr = Pcr::new("pcr", 1, 1, true);
    let mut used = 0;
    for number in 1..100 {
        let plans = pcr.plan(number, 1, &History::default());
        let Some(plan) = plans.first() else { break };
        // Something else than what was planned.
        let stray = Plan { tag: plan.tag, trace: true, ..Plan::new(Random, number, "stray") };
        let run = runner.run(&stray).unwrap();
        let (traces, covered) = (pcr.reasoning.known.traces.len(), pcr.reasoning.known.covered.len());
        pcr.learn(&[(&stray, &run)], false, &|| false).unwrap();
        let has_left = pcr.reasoning.attempts.last().is_some_and(|attempt| !attempt.followed);
        used += usize::from(
            has_left
                && pcr.reasoning.known.traces.len() > traces
                && pcr.reasoning.known.covered.len() > covered,
        );
    }
    assert!(used > 0);
}

#[test]
fn no_schedule_is_run_twice_and_what_is_impossible_is_not_always_asked() {
    let locked = |x: u64| vec![Step::Lock(1000), Step::Read(x), Step::Write(x), Step::Unlock(1000)];
    let thread = [locked(8), locked(16), locked(8)].concat();
    let toy = Toy { threads: vec![thread.clone(), thread] };
    let lab = Lab::new(toy, None, Manners { all_shared: true, ..Manners::default() });
    let mut runner = lab.launch().ok().unwrap();
    let mut pcr = Pcr::new("pcr", 1, 1, true);
    for number in 1..300 {
        let plans = pcr.plan(number, 1, &History::default());
        let Some(plan) = plans.first() else { break };
        let run = runner.run(plan).unwrap();
        pcr.learn(&[(plan, &run)], false, &|| false).unwrap();
    }
    let turns: Vec<_> = lab.seen().into_iter().map(|seen| seen.turns).filter(|it| !it.is_empty()).collect();
    let different: std::collections::BTreeSet<_> = turns.iter().collect();
    assert_eq!(different.len(), turns.len());
    println!("{:?}", pcr.notes.effort);
    assert!(pcr.notes.effort.spared > 10, "{:?}", pcr.notes.effort);
}
