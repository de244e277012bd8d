//! Policies that rank threads: PCT, delays, round robin.

use std::collections::BTreeSet;

use threadbare_trace::{EventKind, ThreadId};

use super::statistics::assert_uniform;
use super::{run, start, writers};
use crate::toy::{Toy, ToyStep};
use crate::{Candidate, Choice, Delay, Op, Pct, Policy, PolicySpec, RoundRobin};

fn pct(depth: u32, expected_steps: u64, seed: u64) -> PolicySpec {
    PolicySpec::new(Pct { depth, expected_steps }, seed)
}

fn delay(longest_micros: u32, probability: f64, seed: u64) -> PolicySpec {
    PolicySpec::new(Delay { longest_micros, probability }, seed)
}

fn preemptions(word: &str, counts: &[usize]) -> usize {
    let mut left = counts.to_vec();
    let threads: Vec<usize> = word.bytes().map(|byte| usize::from(byte - b'0')).collect();
    let mut preempted = 0;
    for pair in threads.windows(2) {
        left[pair[0]] -= 1;
        preempted += usize::from(pair[0] != pair[1] && left[pair[0]] > 0);
    }
    preempted
}

#[test]
fn pct_of_depth_one_runs_threads_whole_in_any_order_alike() {
    let toy = writers(&[3, 3, 3], true);
    assert_uniform(6, 6000, |seed| {
        let word = run(&toy, &pct(1, 9, seed)).word();
        assert_eq!(preemptions(&word, &[3, 3, 3]), 0, "{word}");
        word
    });
}

#[test]
fn pct_preempts_at_most_depth_minus_one_times_and_reaches_all_such_orders() {
    let toy = writers(&[3, 3], true);
    let words: BTreeSet<String> = (0..2000).map(|seed| run(&toy, &pct(2, 6, seed)).word()).collect();
    assert!(words.iter().all(|word| preemptions(word, &[3, 3]) <= 1), "{words:?}");
    // Two orders without preemption, and two places in each of two threads for one.
    assert_eq!(words.len(), 2 + 4, "{words:?}");
}

#[test]
fn pct_finds_a_bug_of_its_depth_as_often_as_promised() {
    // All of thread 1 has to come between the two writes of thread 0: depth 2, two threads, five
    // steps, so one run in ten; five standard deviations are allowed for.
    let toy = writers(&[2, 3], true);
    let hits = (0..10_000).filter(|&seed| run(&toy, &pct(2, 5, seed)).word() == "01110").count();
    assert!(hits > 850, "{hits} of 10000 is below 1 / (threads × steps)");
}

#[test]
fn extreme_depths_and_unknown_lengths_are_harmless() {
    let toy = writers(&[2, 2], true);
    for (depth, steps) in [(0, 0), (1, 0), (u32::MAX, 3), (u32::MAX, 0), (3, u64::MAX)] {
        assert_eq!(run(&toy, &pct(depth, steps, 1)).order.len(), 4);
    }
}

fn reads(index: u32) -> [Op; 3] {
    [0, 1, 2].map(|t| Op { kind: EventKind::AtomicRead, object: t, size: 4, site: 0, index, place: 0 })
}

#[test]
fn a_spinner_never_starves_the_others() {
    for parameters in super::free_policies() {
        for seed in 0..20 {
            let mut policy = start(&PolicySpec::new(parameters.clone(), seed));
            let ops = reads(1);
            let all = [0, 1, 2].map(|t| Candidate { thread: ThreadId(t), op: &ops[t as usize] });
            let mut ran = BTreeSet::new();
            let mut current = ThreadId::MAIN;
            for step in 0..200 {
                let chosen = policy.choose(&Choice { candidates: &all, current, step });
                let op = Op { index: step as u32 + 1, ..ops[chosen.index()] };
                policy.executed(chosen, &op);
                policy.yielded(chosen);
                ran.insert(chosen);
                current = chosen;
            }
            assert_eq!(ran.len(), 3, "{parameters:?}, seed {seed}");
        }
    }
}

#[test]
fn without_delays_threads_advance_side_by_side() {
    let toy = writers(&[50, 50], true);
    for seed in 0..20 {
        let word = run(&toy, &delay(3, 0.0, seed)).word();
        let (mut lead, mut largest) = (0i32, 0);
        for byte in word.bytes().take(60) {
            lead += if byte == b'0' { 1 } else { -1 };
            largest = largest.max(lead.abs());
        }
        assert!(largest < 15, "one thread was {largest} ahead: {word}");
    }
}

#[test]
fn a_long_delay_lets_the_other_thread_finish() {
    let toy = writers(&[3, 10], true);
    let spec = |seed| delay(10_000, 0.05, seed);
    let overtaken = (0..500).filter(|&seed| run(&toy, &spec(seed)).word().ends_with('0'));
    assert!(overtaken.count() > 10);
}

#[test]
fn delays_are_of_any_length_up_to_the_limit() {
    // Three uniform delays are together shorter than a fourth one in 1 of 24 cases; were all of one length, never.
    let toy = writers(&[3, 1], true);
    let spec = |seed| delay(10_000, 1.0, seed);
    let count = |word: &str| (0..4800).filter(|&seed| run(&toy, &spec(seed)).word() == word).count();
    assert!((150..250).contains(&count("0001")), "{} of 4800", count("0001"));
    assert!((2250..2550).contains(&count("1000")), "{} of 4800", count("1000"));
}

#[test]
fn a_new_thread_may_be_overtaken_by_one_that_was_created_later() {
    let toy = Toy {
        threads: vec![
            vec![ToyStep::Create(1), ToyStep::Create(2), ToyStep::Join(1), ToyStep::Join(2)],
            vec![ToyStep::Write(8); 3],
            vec![ToyStep::Write(8); 3],
        ],
    };
    let spec = |seed| delay(3, 0.0, seed);
    let word = |seed| run(&toy, &spec(seed)).word().replace('0', "");
    // Hardly ever do they start within the few steps that they make.
    let first = (0..400).filter(|&seed| word(seed) == "111222").count();
    assert!((150..250).contains(&first), "{first} of 400");
}

#[test]
fn whoever_waited_for_a_lock_may_get_it_next() {
    // The first thread takes the lock at once and keeps it while the two others come to wait for it.
    let lock = |steps: usize| {
        let mut section = vec![ToyStep::Lock(1000)];
        section.extend(vec![ToyStep::Write(8); steps]);
        section.push(ToyStep::Unlock(1000));
        section
    };
    let toy = Toy { threads: vec![lock(50), lock(1), lock(1)] };
    let spec = |seed| delay(3, 0.0, seed);
    let runs = (0..400).map(|seed| run(&toy, &spec(seed)).word());
    let runs: Vec<String> = runs.filter(|word| word.starts_with('0')).collect();
    let second = runs.iter().filter(|word| word.find('1') < word.find('2')).count();
    assert!((runs.len() / 3..2 * runs.len() / 3).contains(&second), "{second} of {}", runs.len());
}

#[test]
fn a_yield_lets_every_other_thread_go_first() {
    let toy = writers(&[3, 3, 3], true);
    let word = run(&toy, &delay(0, 1.0, 3)).word();
    assert!(!["00", "11", "22"].iter().any(|twice| word.contains(twice)), "{word}");
}

#[test]
fn round_robin_takes_turns_of_the_given_length() {
    let word =
        |counts: &[usize], turn| run(&writers(counts, true), &PolicySpec::new(RoundRobin { turn }, 0)).word();
    assert_eq!(word(&[2, 3, 1], 1), "012011");
    assert_eq!(word(&[4, 4], 2), "00110011");
    assert_eq!(word(&[2, 2], 0), "0101");
}
