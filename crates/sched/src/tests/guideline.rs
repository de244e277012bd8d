//! That reads see what a guideline asks for, and that no program is kept from ending.

use threadbare_trace::ThreadId;

use super::{made_up, run};
use crate::toy::{Toy, ToyStep, Walk};
use crate::{Guidance, Malformed, PolicySpec, Rng, Specification as _, StepInstance, SwitchPoint, WantedUse};

fn guided(toy: &Toy, wanted: &[WantedUse], seed: u64) -> Walk {
    let guidance = Guidance { variation: seed, wanted: wanted.to_vec(), lead: Vec::new() };
    run(toy, &PolicySpec::new(guidance, 1))
}

fn instance(thread: usize, step: usize, number: u32) -> StepInstance {
    StepInstance { thread: ThreadId(thread as u16), site: Toy::site(thread, step), number, gate: 0 }
}

fn gated(thread: usize, step: usize, gate: usize) -> StepInstance {
    StepInstance { gate: Toy::site(thread, gate), ..instance(thread, step, 1) }
}

/// What a step of a walk read, the how many-th time it was made.
fn saw(walk: &Walk, it: &StepInstance) -> Option<u64> {
    let made = (0..walk.ops.len()).filter(|at| (walk.order[*at], walk.ops[*at].site) == (it.thread, it.site));
    made.map(|at| walk.effects[at].0).nth(it.number as usize - 1)
}

/// Figure 54: line 3 of the first thread shall see what line 20 of the second one writes, or its own line 1.
#[test]
fn a_use_sees_the_define_that_the_guideline_names() {
    let toy = Toy {
        threads: vec![
            vec![ToyStep::Store(8, 1), ToyStep::Store(16, 2), ToyStep::Read(8), ToyStep::Read(16)],
            vec![ToyStep::Read(16), ToyStep::Store(8, 20), ToyStep::Read(8)],
            vec![ToyStep::Store(8, 7), ToyStep::Store(8, 8)],
        ],
    };
    let used = instance(0, 2, 1);
    for seed in 0..200 {
        for (define, value) in [(instance(1, 1, 1), 20), (instance(2, 1, 1), 8), (instance(0, 0, 1), 1)] {
            let walk = guided(&toy, &[(used, Some(define))], seed);
            assert_eq!(saw(&walk, &used), Some(value), "seed {seed}, {define:?}");
        }
        // What was there before can be seen by the second thread's read only.
        let early = instance(1, 0, 1);
        let walk = guided(&toy, &[(early, None)], seed);
        assert_eq!(saw(&walk, &early), Some(0), "seed {seed}");
    }
}

#[test]
fn two_use_defines_are_kept_to_at_once() {
    let reads = vec![ToyStep::Read(8), ToyStep::Read(16)];
    let writes = |value| {
        vec![ToyStep::Store(8, value), ToyStep::Store(16, value), ToyStep::Store(8, 9), ToyStep::Store(16, 9)]
    };
    let toy = Toy { threads: vec![reads, writes(1), writes(2)] };
    let (x, y) = (instance(0, 0, 1), instance(0, 1, 1));
    for seed in 0..200 {
        let wanted = [(x, Some(instance(1, 0, 1))), (y, Some(instance(2, 1, 1)))];
        let walk = guided(&toy, &wanted, seed);
        assert_eq!((saw(&walk, &x), saw(&walk, &y)), (Some(1), Some(2)), "seed {seed}");
    }
}

/// As many as a thread has reads.
#[test]
fn five_use_defines_are_kept_to_at_once() {
    let places: Vec<u64> = (1..=5).map(|place| 8 * place).collect();
    let toy = Toy {
        threads: vec![
            places.iter().map(|place| ToyStep::Read(*place)).collect(),
            places.iter().map(|place| ToyStep::Store(*place, 7)).collect(),
        ],
    };
    for seed in 0..200 {
        let wanted: Vec<_> = (0..5).map(|step| (instance(0, step, 1), Some(instance(1, step, 1)))).collect();
        let walk = guided(&toy, &wanted, seed);
        assert!((0..5).all(|step| saw(&walk, &instance(0, step, 1)) == Some(7)), "seed {seed}");
    }
}

#[test]
fn what_comes_first_is_followed_before_everything_is_open() {
    let toy = Toy { threads: vec![vec![ToyStep::Read(8); 4], vec![ToyStep::Store(8, 1); 2]] };
    let (first, second) = (ThreadId(0), ThreadId(1));
    let lead = vec![
        SwitchPoint { from: first, op: 3, to: second },
        SwitchPoint { from: second, op: 2, to: first },
        SwitchPoint { from: first, op: 4, to: first },
    ];
    let mut ends = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let guidance = Guidance { variation: seed, wanted: Vec::new(), lead: lead.clone() };
        let word = run(&toy, &PolicySpec::new(guidance, 1)).word();
        assert!(word.starts_with("0010"), "{word}");
        ends.insert(word);
    }
    assert_eq!(ends.len(), 2, "either of the two runs after it: {ends:?}");
}

#[test]
fn guidance_survives_being_handed_over() {
    let switch = SwitchPoint { from: ThreadId(3), op: 70_000, to: ThreadId(1) };
    let wanted = vec![(gated(1, 2, 1), Some(instance(2, 1, 9))), (instance(0, 1, 1), None)];
    let guidance = Guidance { variation: 5, wanted, lead: vec![switch, switch] };
    assert_eq!(Guidance::from_words(&guidance.to_words()), Ok(guidance));
    assert_eq!(Guidance::from_words(&[]), Err(Malformed));
}

#[test]
fn the_wanted_iteration_of_a_loop_is_meant() {
    let toy = Toy {
        threads: vec![
            vec![ToyStep::Read(8), ToyStep::BackIf(0, 1), ToyStep::Read(8)],
            vec![ToyStep::Read(16), ToyStep::Store(8, 5)],
        ],
    };
    for seed in 0..100 {
        let used = instance(0, 0, 3);
        let walk = guided(&toy, &[(used, Some(instance(1, 1, 1)))], seed);
        assert_eq!(saw(&walk, &used), Some(5), "seed {seed}");
        assert_eq!(saw(&walk, &instance(0, 0, 2)), Some(0), "seed {seed}");
    }
}

#[test]
fn threads_that_need_one_lock_wait_before_it() {
    let section = |step: ToyStep| vec![ToyStep::Read(24), ToyStep::Lock(1000), step, ToyStep::Unlock(1000)];
    let toy = Toy {
        threads: vec![
            section(ToyStep::Read(8)),
            section(ToyStep::Store(8, 1)),
            section(ToyStep::Store(8, 2)),
        ],
    };
    let used = gated(0, 2, 1);
    for seed in 0..200 {
        for (writer, value) in [(1, 1), (2, 2)] {
            let walk = guided(&toy, &[(used, Some(gated(writer, 2, 1)))], seed);
            assert_eq!(saw(&walk, &used), Some(value), "seed {seed}");
        }
    }
}

/// Whatever is asked for, possible or not.
#[test]
fn no_guideline_keeps_a_program_from_ending() {
    let mut rng = Rng::new(8);
    for case in 0..400 {
        let toy = made_up(&mut rng);
        let mut any = || {
            let thread = rng.below(toy.threads.len() as u64) as usize;
            let step = rng.below(toy.threads[thread].len() as u64) as usize;
            StepInstance {
                gate: Toy::site(thread, rng.below(4) as usize),
                ..instance(thread, step, 1 + rng.below(2) as u32)
            }
        };
        let wanted = [(any(), Some(any())), (any(), Some(any()))];
        let walk = guided(&toy, &wanted, case);
        let steps: usize = toy.threads.iter().map(Vec::len).sum();
        assert_eq!((walk.order.len(), walk.deadlock), (steps, false), "case {case}");
    }
}
