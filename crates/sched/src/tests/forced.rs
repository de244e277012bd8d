//! Prefixes and replays follow their lists, and report where they could not.

use threadbare_trace::ThreadId;

use super::{free_policies, made_up, run, writers};
use crate::toy::{Toy, ToyStep};
use crate::{
    AnyPolicy, DivergenceReason as Reason, Policy as _, PolicySpec, Prefix, Random, Replay, Rng, SwitchPoint,
};

fn switch(from: u16, op: u32, to: u16) -> SwitchPoint {
    SwitchPoint { from: ThreadId(from), op, to: ThreadId(to) }
}

fn follow_switches(switches: &[SwitchPoint]) -> AnyPolicy {
    PolicySpec::new(Replay { switches: switches.to_vec(), main_last: false }, 0).start()
}

fn follow_choices(choices: &[u16]) -> AnyPolicy {
    let choices = choices.iter().map(|&thread| ThreadId(thread)).collect();
    PolicySpec::new(Prefix { choices }, 0).start()
}

fn divergence(policy: &AnyPolicy) -> Option<(u64, Reason)> {
    policy.divergence().map(|divergence| (divergence.number, divergence.reason))
}

fn replay(toy: &Toy, switches: &[SwitchPoint]) -> (String, Option<(u64, Reason)>) {
    let mut policy = follow_switches(switches);
    let walk = toy.run(&mut policy, &toy.locations());
    (walk.word(), divergence(&policy))
}

#[test]
fn replaying_the_switches_of_any_run_gives_that_run() {
    let mut rng = Rng::new(77);
    for case in 0..300 {
        let toy = made_up(&mut rng);
        let recorded = run(&toy, &PolicySpec::new(free_policies()[case % 9].clone(), case as u64));
        assert_eq!(replay(&toy, &recorded.switches), (recorded.word(), None), "case {case}");
    }
}

#[test]
fn a_replay_does_not_need_to_know_what_was_a_scheduling_point() {
    let mut rng = Rng::new(78);
    for case in 0..300 {
        let toy = made_up(&mut rng);
        let recorded = run(&toy, &PolicySpec::new(Random, case));
        let mut policy = follow_switches(&recorded.switches);
        let walk = toy.run(&mut policy, &Default::default());
        assert_eq!(walk.order, recorded.order, "case {case}");
        assert_eq!(divergence(&policy), None);
    }
}

#[test]
fn following_the_choices_of_any_run_gives_that_run() {
    let mut rng = Rng::new(79);
    for case in 0..300 {
        let toy = made_up(&mut rng);
        let recorded = run(&toy, &PolicySpec::new(Random, case));
        let choices: Vec<u16> = recorded.decisions.iter().map(|decision| decision.chosen.0).collect();
        assert_eq!(toy.run(&mut follow_choices(&choices), &toy.locations()), recorded, "case {case}");
    }
}

#[test]
fn after_the_prefix_nobody_is_preempted() {
    let toy = writers(&[3, 3], true);
    let follow = |threads: &[u16]| toy.run(&mut follow_choices(threads), &toy.locations()).word();
    assert_eq!(follow(&[]), "000111");
    assert_eq!(follow(&[1]), "111000");
    assert_eq!(follow(&[0, 1]), "011100");
}

#[test]
fn a_prefix_that_names_a_missing_thread_says_so() {
    let toy = writers(&[1, 1], true);
    let mut policy = follow_choices(&[7]);
    toy.run(&mut policy, &toy.locations());
    assert_eq!(divergence(&policy), Some((1, Reason::NotRunnable { thread: ThreadId(7) })));
    let divergence = policy.divergence().expect("thread 7 does not exist");
    let sentence = divergence.reason.to_string();
    assert_eq!(divergence.number, 1);
    assert!(sentence.starts_with("T7 should have gone on"), "{sentence}");
}

#[test]
fn a_replay_names_the_thread_that_is_not_runnable() {
    let toy = writers(&[2, 2], true);
    let (word, divergence) = replay(&toy, &[switch(0, 2, 1), switch(1, 2, 5)]);
    assert_eq!(word, "0110");
    assert_eq!(divergence, Some((2, Reason::NotRunnable { thread: ThreadId(5) })));
}

#[test]
fn a_replay_notices_a_thread_that_stops_where_it_should_not() {
    // The schedule was made before the lock was there.
    let lock = [ToyStep::Lock(1000), ToyStep::Write(8), ToyStep::Unlock(1000)];
    let toy = Toy { threads: vec![lock.to_vec(), [&[ToyStep::Write(16)][..], &lock].concat()] };
    let (word, divergence) = replay(&toy, &[switch(0, 2, 1), switch(1, 4, 0)]);
    assert_eq!(word, "0100111");
    let reason =
        Reason::StoppedElsewhere { thread: ThreadId(1), op: 2, expected: ThreadId(1), expected_op: 4 };
    assert_eq!(divergence, Some((2, reason)));
}

#[test]
fn a_replay_notices_a_place_it_went_past() {
    let toy = writers(&[4, 1], true);
    let (word, divergence) = replay(&toy, &[switch(0, 3, 1), switch(1, 2, 0), switch(0, 1, 1)]);
    assert_eq!(word, "00100");
    assert_eq!(divergence, Some((3, Reason::WentPast { thread: ThreadId(0), op: 1 })));
}

#[test]
fn who_follows_a_list_lets_main_go_last_afterwards() {
    let toy = writers(&[3, 2, 2], true);
    let follow = |switches: &[(u16, u32, u16)]| {
        let switches = switches.iter().map(|(from, op, to)| switch(*from, *op, *to)).collect();
        run(&toy, &PolicySpec::new(Replay { switches, main_last: true }, 1)).word()
    };
    assert_eq!(follow(&[]), "1122000");
    assert_eq!(follow(&[(0, 2, 2), (2, 2, 0), (0, 3, 1)]), "0201120");
}
