//! The workers: one thread and one runner each, for the whole campaign.
//!
//! A worker starts its own runner and keeps it, since a server belongs to the thread that started
//! it. All workers take the executions of a batch in ascending order from one counter, so when an
//! execution fails, everything before it has been run or is running.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use threadbare_target::Execution;
use threadbare_wire::LearnedRecord;

use super::progress::CoverageProgress;
use super::results::Signature;
use crate::profile::Profile;
use crate::runner::{Launch, Runner, Trouble};
use crate::search::Steer as _;
use crate::strategy::Plan;

/// How often the campaign says how far it is.
const PROGRESS: Duration = Duration::from_millis(100);

/// When to stop before the plans are used up.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    /// The user asked for the end.
    pub(crate) stop: &'a AtomicBool,
    /// The time is up.
    pub(crate) deadline: Option<Instant>,
    /// Go on after a failure.
    pub(crate) keep_going: bool,
}

impl Limits<'_> {
    /// The user wants it to end now.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// No further execution may begin.
    pub(crate) fn reached(&self) -> bool {
        self.stopped() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Counters that may be read while a batch runs.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) executions: AtomicU64,
    pub(crate) steps: AtomicU64,
    pub(crate) failures: AtomicU64,
    /// The first execution that showed each failure, so that later ones need not be kept whole.
    first_seen: Mutex<HashMap<Signature, u64>>,
    standing: Mutex<Standing>,
}

/// What the batches so far have come to.
#[derive(Clone, Default)]
pub(crate) struct Standing {
    pub(crate) coverage: Vec<CoverageProgress>,
    pub(crate) best: Option<String>,
}

impl Tally {
    pub(crate) fn standing(&self) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn stand(&self, standing: Standing) {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    /// Whether no execution before this one is known to have failed in this way.
    fn is_first(&self, signature: Signature, execution: u64) -> bool {
        let mut seen = self.first_seen.lock().unwrap_or_else(PoisonError::into_inner);
        let first = seen.entry(signature).or_insert(execution);
        *first = execution.min(*first);
        *first == execution
    }
}

/// One batch.
pub(crate) struct Batch {
    /// The number of its first execution, counted from 1.
    pub(crate) first: u64,
    pub(crate) plans: Vec<Plan>,
    pub(crate) shared: Arc<Vec<LearnedRecord>>,
    pub(crate) pool: u32,
    next: AtomicUsize,
    /// The lowest place that ends the campaign.
    end: AtomicUsize,
}

impl Batch {
    pub(crate) fn new(first: u64, plans: Vec<Plan>, shared: Arc<Vec<LearnedRecord>>, pool: u32) -> Batch {
        Batch { first, plans, shared, pool, next: AtomicUsize::new(0), end: AtomicUsize::new(usize::MAX) }
    }

    /// The next place to run.
    fn take(&self, limits: &Limits<'_>) -> Option<usize> {
        // One execution is always made: a campaign of none would say nothing.
        let is_very_first = self.first == 1 && self.next.load(Ordering::Relaxed) == 0;
        if limits.stopped() || (limits.reached() && !is_very_first) {
            return None;
        }
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        (place < self.plans.len() && place < self.end.load(Ordering::Relaxed)).then_some(place)
    }

    fn end_at(&self, place: usize) {
        self.end.fetch_min(place, Ordering::Relaxed);
    }
}

/// What became of one plan.
pub(crate) struct Ran {
    pub(crate) place: usize,
    pub(crate) result: Result<(Execution, Option<Profile>), Trouble>,
}

/// The workers of a campaign.
pub(crate) struct Workers {
    orders: Vec<Sender<Arc<Batch>>>,
    reports: Receiver<Vec<Ran>>,
}

impl Workers {
    /// Starts the workers; they end when the crew is dropped.
    pub(crate) fn hire<'scope, 'env, L: Launch>(
        scope: &'scope Scope<'scope, 'env>,
        launch: &'env L,
        jobs: usize,
        limits: Limits<'env>,
        tally: &'env Tally,
    ) -> Workers {
        let (report, reports) = channel();
        let hire_one = |_| {
            let (order, orders) = channel::<Arc<Batch>>();
            let report = report.clone();
            scope.spawn(move || {
                let mut worker = Worker { launch, limits, tally, runner: None };
                for batch in orders {
                    if report.send(worker.work(&batch)).is_err() {
                        break;
                    }
                }
            });
            order
        };
        Workers { orders: (0..jobs.max(1)).map(hire_one).collect(), reports }
    }

    /// Runs a batch; returns what was run, in order. Calls `progress` now and then.
    pub(crate) fn run(&self, batch: &Arc<Batch>, progress: &dyn Fn()) -> Vec<Ran> {
        let busy = self.orders.iter().take(batch.plans.len());
        let mut waiting = busy.filter(|order| order.send(Arc::clone(batch)).is_ok()).count();
        let mut ran = Vec::with_capacity(batch.plans.len());
        while waiting > 0 {
            match self.reports.recv_timeout(PROGRESS) {
                Ok(mut report) => {
                    ran.append(&mut report);
                    waiting -= 1;
                }
                Err(RecvTimeoutError::Timeout) => progress(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        ran.sort_by_key(|ran| ran.place);
        ran
    }
}

struct Worker<'a, L: Launch> {
    launch: &'a L,
    limits: Limits<'a>,
    tally: &'a Tally,
    runner: Option<Briefed<L::Runner>>,
}

/// A runner, with what it has been told.
struct Briefed<R> {
    runner: R,
    shared: usize,
    pool: u32,
}

impl<L: Launch> Worker<'_, L> {
    fn work(&mut self, batch: &Batch) -> Vec<Ran> {
        let mut report = Vec::new();
        while let Some(place) = batch.take(&self.limits) {
            let result = self.run(batch, &batch.plans[place]);
            let result = result.map(|run| self.examine(batch, place, run));
            if result.is_err() {
                batch.end_at(place);
            }
            report.push(Ran { place, result });
        }
        report
    }

    fn run(&mut self, batch: &Batch, plan: &Plan) -> Result<Execution, Trouble> {
        match self.try_run(batch, plan) {
            // A server that was lost says nothing about the plan: once more, with a new one.
            Err(Trouble::Error(_)) if self.runner.is_some() && !self.limits.stopped() => {
                self.runner = None;
                self.try_run(batch, plan)
            }
            result => result,
        }
    }

    fn try_run(&mut self, batch: &Batch, plan: &Plan) -> Result<Execution, Trouble> {
        let briefed = match &mut self.runner {
            Some(briefed) => briefed,
            none => none.insert(Briefed { runner: self.launch.launch()?, shared: 0, pool: 0 }),
        };
        if briefed.shared < batch.shared.len() {
            briefed.runner.learn(&batch.shared[briefed.shared..]);
            briefed.shared = batch.shared.len();
        }
        if briefed.pool != batch.pool {
            briefed.runner.set_pool(batch.pool);
            briefed.pool = batch.pool;
        }
        let runner = &mut briefed.runner;
        let Some(search) = &plan.search else { return runner.run(plan).map_err(Trouble::Error) };
        let found = search.lock().next(runner, &|| self.limits.reached());
        found.map_err(Trouble::Error)?.ok_or(Trouble::CutShort)
    }

    /// Counts the execution and lets go of what nobody will look at: a batch of long traces would
    /// not fit into memory.
    fn examine(&self, batch: &Batch, place: usize, mut run: Execution) -> (Execution, Option<Profile>) {
        self.tally.executions.fetch_add(1, Ordering::Relaxed);
        self.tally.steps.fetch_add(run.steps, Ordering::Relaxed);
        let profile = batch.plans[place].profile.then(|| Profile::of(&run.events));
        let execution = batch.first + place as u64;
        let keep = match run.outcome.failure() {
            Some(failure) => {
                self.tally.failures.fetch_add(1, Ordering::Relaxed);
                if !self.limits.keep_going {
                    batch.end_at(place);
                }
                self.tally.is_first(Signature::of(failure), execution)
            }
            None => false,
        };
        let plan = &batch.plans[place];
        if !keep && !plan.trace && !plan.watched {
            run.events = Vec::new();
            run.switches = Vec::new();
            run.output = Vec::new();
        }
        (run, profile)
    }
}
