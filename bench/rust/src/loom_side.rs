//! loom: systematic, so it needs no seed; it supports no more than five threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use loom::model::Builder;

use crate::clock::processor_seconds;
use crate::peers;

fn builder(bound: Option<usize>) -> Builder {
    let mut builder = Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = 100_000;
    builder
}

/// Executions a second of a program that does not fail.
pub fn speed(program: &str, bound: Option<usize>, seconds: f64) -> Option<f64> {
    let body = peers::loom::program(program)?;
    let made = Arc::new(AtomicU64::new(0));
    let begin = processor_seconds();
    while processor_seconds() - begin < seconds {
        let counted = Arc::clone(&made);
        let mut builder = builder(bound);
        builder.max_duration = Some(Duration::from_secs_f64(seconds));
        let counting = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            body();
        };
        if catch_unwind(AssertUnwindSafe(|| builder.check(counting))).is_err() {
            return None;
        }
    }
    Some(made.load(Ordering::Relaxed) as f64 / (processor_seconds() - begin))
}

/// The execution that fails first, if one of so many does.
pub fn first_failure(program: &str, bound: Option<usize>, most: u64) -> Option<u64> {
    let body = peers::loom::program(program)?;
    let begun = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&begun);
    let mut builder = builder(bound);
    builder.max_permutations = Some(most as usize);
    let counting = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    };
    let failed = catch_unwind(AssertUnwindSafe(|| builder.check(counting))).is_err();
    failed.then(|| begun.load(Ordering::Relaxed))
}

/// How many executions it takes to try everything, or have been made when the time was up.
pub struct Growth {
    /// Executions.
    pub executions: u64,
    /// Nothing is left.
    pub exhausted: bool,
}

/// Tries everything that a growing program can do, without a bound; nothing if that is beyond loom.
pub fn growth(family: &str, threads: usize, rounds: usize, seconds: f64) -> Option<Growth> {
    let body = peers::loom::growing(family, threads, rounds)?;
    let begun = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&begun);
    let mut builder = builder(None);
    let most = Duration::from_secs_f64(seconds);
    builder.max_duration = Some(most);
    let begin = Instant::now();
    let counting = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    };
    catch_unwind(AssertUnwindSafe(|| builder.check(counting))).ok()?;
    let exhausted = begin.elapsed() < most;
    Some(Growth { executions: begun.load(Ordering::Relaxed), exhausted })
}
