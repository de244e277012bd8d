//! Preemptions everywhere, and one where it matters.

use threadbare_trace::ThreadId;

use super::{made_up, run, start};
use crate::toy::{Toy, ToyStep, Walk};
use crate::{
    Between, Interruption, Interruptions, Intrusions, Journaled, OpId, Policy as _, PolicySpec, Rng,
};

const X: u64 = 8;
const Y: u64 = 16;
const ONE_LOCK: u64 = 1000;
const OTHER_LOCK: u64 = 1001;

fn interrupted(threads: Vec<Vec<ToyStep>>, at: Interruption) -> Walk {
    run(&Toy { threads }, &PolicySpec::new(Interruptions { at, probability: 1.0 }, 1))
}

#[test]
fn before_stores_everybody_reads_first() {
    let adds = vec![ToyStep::Read(X), ToyStep::Write(X)];
    let walk = interrupted(vec![adds.clone(), adds.clone(), adds], Interruption::BeforeStore);
    assert_eq!((walk.word().as_str(), walk.memory[&X]), ("012012", 1));
}

#[test]
fn after_stores_others_see_half_of_it() {
    let publishes = vec![ToyStep::Store(X, 1), ToyStep::Store(Y, 1)];
    let walk =
        interrupted(vec![publishes, vec![ToyStep::Read(X), ToyStep::Read(Y)]], Interruption::AfterStore);
    assert_eq!(walk.word(), "0110");
}

#[test]
fn a_turn_that_is_over_stays_so_until_somebody_else_is_runnable() {
    let publishes =
        vec![ToyStep::Lock(ONE_LOCK), ToyStep::Store(X, 1), ToyStep::Unlock(ONE_LOCK), ToyStep::Read(Y)];
    let asks = vec![ToyStep::Lock(ONE_LOCK), ToyStep::Read(X), ToyStep::Unlock(ONE_LOCK)];
    let walk = interrupted(vec![publishes, asks], Interruption::AfterLock);
    assert_eq!(walk.word(), "0001011");
}

#[test]
fn after_locks_everybody_takes_the_first_one() {
    let sits = |left, right| {
        vec![ToyStep::Lock(left), ToyStep::Lock(right), ToyStep::Unlock(right), ToyStep::Unlock(left)]
    };
    let threads = vec![sits(ONE_LOCK, OTHER_LOCK), sits(OTHER_LOCK, ONE_LOCK)];
    assert!(interrupted(threads.clone(), Interruption::AfterLock).deadlock);
    assert!(!interrupted(threads, Interruption::BeforeStore).deadlock);
}

#[test]
fn lockstep_does_not_last() {
    let adds = [ToyStep::Read(X), ToyStep::Write(X)].repeat(2_000);
    let walk = interrupted(vec![adds.clone(), adds], Interruption::BeforeStore);
    let word = walk.word();
    assert!(word[..900].chars().zip(word[1..].chars()).filter(|(one, next)| one != next).count() > 440);
    assert!(word.contains("0000") && word.contains("1111"));
}

/// What threads do one after the other, and what could come in between.
fn intrusions(toy: &Toy, seed: u64) -> Vec<(OpId, OpId)> {
    let mut policy = start(&PolicySpec::new(Journaled, seed));
    toy.run(&mut policy, &toy.locations());
    let mut shown = Intrusions::shown_by(policy.journal().expect("it is one"), seed);
    std::iter::from_fn(|| shown.take()).collect()
}

#[test]
fn what_acts_on_a_read_is_tried_first() {
    let threads = vec![
        vec![ToyStep::Read(X), ToyStep::Read(X), ToyStep::Write(X)],
        vec![ToyStep::Store(X, 7), ToyStep::Read(Y)],
    ];
    let place = |thread, op| OpId { thread: ThreadId(thread), op };
    for seed in 0..20 {
        let shown = intrusions(&Toy { threads: threads.clone() }, seed);
        assert_eq!(shown, [(place(0, 3), place(1, 1)), (place(0, 2), place(1, 1))]);
    }
}

#[test]
fn nothing_comes_between_that_was_done_before_the_thread_was_there() {
    let main = vec![ToyStep::Store(X, 1), ToyStep::Create(1), ToyStep::Join(1)];
    let toy = Toy { threads: vec![main, vec![ToyStep::Read(X), ToyStep::Write(X)]] };
    assert_eq!(intrusions(&toy, 1), []);
}

#[test]
fn what_comes_between_does() {
    let mut rng = Rng::new(3);
    let (mut tried, mut came) = (0, 0);
    for case in 0..100 {
        let toy = made_up(&mut rng);
        for (held, other) in intrusions(&toy, case) {
            let walk = run(&toy, &PolicySpec::new(Between { held, other }, 0));
            assert!(!walk.deadlock);
            let position = |place: OpId| {
                let is_it = |at: &usize| walk.order[*at] == place.thread && walk.ops[*at].index == place.op;
                (0..walk.order.len()).find(is_it).expect("everything is made")
            };
            tried += 1;
            came += u32::from(position(other) < position(held));
        }
    }
    // The others are under one lock.
    assert!(tried > 300 && came * 10 > tried * 7, "{came} of {tried}");
}
