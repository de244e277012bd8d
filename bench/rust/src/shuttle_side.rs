//! shuttle.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shuttle::scheduler::{PctScheduler, RandomScheduler, UrwRandomScheduler};
use shuttle::{Config, FailurePersistence, Runner};

use crate::clock::processor_seconds;
use crate::peers;

/// Its schedulers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Scheduler {
    /// Uniform choice.
    Random,
    /// Priorities with two change points.
    Pct,
    /// Uniform random walk.
    Urw,
}

fn run(scheduler: Scheduler, seed: u64, executions: u64, body: impl Fn() + Send + Sync + 'static) {
    let most = executions as usize;
    // It prints the schedule of every failure otherwise.
    let mut config = Config::default();
    config.failure_persistence = FailurePersistence::None;
    match scheduler {
        Scheduler::Random => Runner::new(RandomScheduler::new_from_seed(seed, most), config).run(body),
        Scheduler::Pct => Runner::new(PctScheduler::new_from_seed(seed, 3, most), config).run(body),
        Scheduler::Urw => Runner::new(UrwRandomScheduler::new_from_seed(seed, most), config).run(body),
    };
}

/// Executions a second of a program that does not fail.
pub fn speed(program: &str, scheduler: Scheduler, seconds: f64) -> Option<f64> {
    let body = peers::shuttle::program(program)?;
    let (mut made, begin) = (0, processor_seconds());
    let mut batch = 16;
    loop {
        run(scheduler, made + 1, batch, body);
        made += batch;
        batch *= 2;
        let spent = processor_seconds() - begin;
        if spent >= seconds {
            return Some(made as f64 / spent);
        }
    }
}

/// The execution that fails first, if one of so many does.
pub fn first_failure(program: &str, scheduler: Scheduler, seed: u64, most: u64) -> Option<u64> {
    let body = peers::shuttle::program(program)?;
    let begun = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&begun);
    let counting = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    };
    let failed = catch_unwind(AssertUnwindSafe(|| run(scheduler, seed, most, counting))).is_err();
    failed.then(|| begun.load(Ordering::Relaxed))
}
