//! The workers: one thread and one runner each, for the whole campaign.
//!
//! A worker starts its own runner and keeps it, since a server belongs to the thread that started
//! it. All workers take the executions of a batch in ascending order from one counter, so when an
//! execution fails, everything before it has been run or is running.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use threadbare_detect::{Certainty, Finding, FindingKind, Key};
use threadbare_target::Execution;
use threadbare_wire::LearnedRecord;

use super::observer::Examiner;
use super::progress::{CoverageProgress, FailedJustNow, News};
use super::results::Signature;
use super::unheard_panics::is_unheard;
use crate::check::Examined;
use crate::checkpoints::Spared;
use crate::confirm::is_suspicion;
use crate::error::ExploreError;
use crate::kept_events::KeptEvents;
use crate::options::Options;
use crate::profile::Profile;
use crate::runner::{Launch, Runner, Trouble};
use crate::search::Steer as _;
use crate::strategy::Plan;
use crate::suite::ExecutedFunctions;

/// How often the campaign says how far it is.
const PROGRESS: Duration = Duration::from_millis(100);

/// When to stop before the plans are used up.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    /// The user asked for the end.
    pub(crate) stop: &'a AtomicBool,
    begin: Instant,
    /// How long all may take.
    time: Option<Duration>,
    /// How much of that is for what is being done now.
    share: &'a TimeShare,
}

/// How much of a campaign's time may have been spent before what is being done now has to end, in percent.
pub(crate) struct TimeShare(AtomicU32);

impl Default for TimeShare {
    fn default() -> TimeShare {
        TimeShare(AtomicU32::new(100))
    }
}

impl TimeShare {
    pub(crate) fn set(&self, percent: u32) {
        self.0.store(percent, Ordering::Relaxed);
    }

    /// Something was found: time has to be left to say what.
    fn leave_time_for_reports(&self) {
        self.0.fetch_min(SEARCH_WITH_FAILURES, Ordering::Relaxed);
    }
}

/// The share of a search that has found something, and goes on.
const SEARCH_WITH_FAILURES: u32 = 80;

impl<'a> Limits<'a> {
    /// The limits of a campaign that began then.
    pub(crate) fn of(
        options: &Options,
        begin: Instant,
        stop: &'a AtomicBool,
        share: &'a TimeShare,
    ) -> Limits<'a> {
        Limits { stop, begin, time: options.time, share }
    }

    /// The user wants it to end now.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// No further execution may begin.
    pub(crate) fn reached(&self) -> bool {
        let is_up = |time: Duration| {
            let percent = self.share.0.load(Ordering::Relaxed);
            self.begin.elapsed() >= time.mul_f64(f64::from(percent) / 100.0)
        };
        self.stopped() || self.time.is_some_and(is_up)
    }

    /// Whether an execution may begin. The very first may even if the time is up: a campaign of none would say nothing.
    pub(crate) fn allow(&self, is_very_first: bool) -> bool {
        if is_very_first { !self.stopped() } else { !self.reached() }
    }
}

/// Counters that may be read while a batch runs.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) executions: AtomicU64,
    pub(crate) steps: AtomicU64,
    pub(crate) failures: AtomicU64,
    /// The largest number of threads in one execution.
    pub(crate) threads: AtomicU32,
    /// How much of the time may have been spent.
    pub(crate) share: TimeShare,
    /// Workers that have started the program.
    pub(crate) workers: AtomicU64,
    /// The program is loaded elsewhere each time it is started.
    pub(crate) moves: AtomicBool,
    spared: Mutex<Spared>,
    /// The first execution that showed each failure, so that later ones need not be kept whole.
    first_seen: Mutex<HashMap<Signature, u64>>,
    batch_results: Mutex<BatchResults>,
    told: Mutex<Told>,
}

/// The findings that were told of.
#[derive(Default)]
struct Told {
    /// How sure each was.
    certainties: HashMap<Key, Certainty>,
    /// Room for the executions to show them on.
    kept: KeptEvents,
}

/// What the batches so far have come to.
#[derive(Clone, Default)]
pub(crate) struct BatchResults {
    pub(crate) coverage: Vec<CoverageProgress>,
    pub(crate) best: Option<String>,
}

impl Tally {
    /// Nothing yet, in a campaign with these options.
    pub(crate) fn of(options: &Options) -> Tally {
        let told = Told { kept: KeptEvents::of(options), ..Told::default() };
        Tally { told: Mutex::new(told), ..Tally::default() }
    }

    /// Those of the findings of an execution that are to be told of: nobody has told of them yet, or not as surely, and there is room for the
    /// execution.
    fn to_be_told(&self, found: &[Finding], run: &Arc<Execution>) -> Vec<Examined> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let Told { certainties, kept } = &mut *told;
        let is_news = |finding: &&Finding| {
            !is_suspicion(finding)
                && finding.kind != FindingKind::Order
                && certainties.get(&finding.key()).is_none_or(|known| finding.certainty > *known)
        };
        let news: Vec<&Finding> = found.iter().filter(is_news).collect();
        if news.is_empty() || !kept.take(run) {
            return Vec::new();
        }
        certainties.extend(news.iter().map(|finding| (finding.key(), finding.certainty)));
        news.into_iter().map(|finding| Examined::predicted(finding.clone(), Arc::clone(run))).collect()
    }

    pub(crate) fn batch_results(&self) -> BatchResults {
        self.batch_results.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_batch_results(&self, results: BatchResults) {
        *self.batch_results.lock().unwrap_or_else(PoisonError::into_inner) = results;
    }

    pub(crate) fn spared(&self) -> Spared {
        *self.spared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no execution before this one is known to have failed in this way.
    fn is_first(&self, signature: Signature, execution: u64) -> bool {
        let mut seen = self.first_seen.lock().unwrap_or_else(PoisonError::into_inner);
        let first = seen.entry(signature).or_insert(execution);
        *first = execution.min(*first);
        *first == execution
    }
}

/// What a runner has to know before a batch.
#[derive(Clone)]
pub(crate) struct Briefing {
    /// What is shared.
    pub(crate) shared: Arc<Vec<LearnedRecord>>,
    /// How many threads to have ready.
    pub(crate) pool: u32,
    /// After how many steps an execution is cut.
    pub(crate) max_steps: u64,
    /// Places in the executable's file where accesses are not announced.
    pub(crate) uninstrumented: Arc<Vec<u64>>,
}

/// One batch.
pub(crate) struct Batch {
    /// The number of its first execution, counted from 1.
    pub(crate) first: u64,
    pub(crate) plans: Vec<Plan>,
    briefing: Briefing,
    examiner: Arc<dyn Examiner>,
    next: AtomicUsize,
    /// The lowest place that ends the phase.
    end: AtomicUsize,
}

impl Batch {
    pub(crate) fn new(
        first: u64,
        plans: Vec<Plan>,
        briefing: Briefing,
        examiner: Arc<dyn Examiner>,
    ) -> Batch {
        let (next, end) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        Batch { first, plans, briefing, examiner, next, end }
    }

    /// The next place to run.
    fn take(&self, limits: &Limits<'_>) -> Option<usize> {
        let is_very_first = self.first == 1 && self.next.load(Ordering::Relaxed) == 0;
        if !limits.allow(is_very_first) {
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
    pub(crate) result: Result<Made, Trouble>,
}

/// An execution, with what the worker made of it.
pub(crate) struct Made {
    pub(crate) run: Arc<Execution>,
    pub(crate) profile: Option<Profile>,
    pub(crate) found: Vec<Finding>,
    pub(crate) executed: Option<ExecutedFunctions>,
    /// The phase ends with it.
    pub(crate) ends: bool,
}

/// The workers of a campaign.
pub(crate) struct Workers {
    orders: Vec<Sender<Arc<Batch>>>,
    messages: Receiver<Message>,
}

/// What a worker says.
enum Message {
    /// What is to be told at once.
    News(News),
    /// What it has run of the batch.
    Done(Vec<Ran>),
}

impl Workers {
    /// Starts the workers; they end when this is dropped.
    pub(crate) fn start<'scope, 'env, L: Launch>(
        scope: &'scope Scope<'scope, 'env>,
        launch: &'env L,
        jobs: usize,
        limits: Limits<'env>,
        tally: &'env Tally,
    ) -> Result<Workers, ExploreError> {
        let (sender, messages) = channel();
        let start_one = |_| {
            let (order, orders) = channel::<Arc<Batch>>();
            let messages = sender.clone();
            let work = move || {
                let mut worker = Worker { launch, limits, tally, messages, runner: None, is_counted: false };
                for batch in orders {
                    let done = worker.work(&batch);
                    if worker.messages.send(Message::Done(done)).is_err() {
                        break;
                    }
                }
            };
            thread::Builder::new().spawn_scoped(scope, work).map(|_| order)
        };
        // Fewer than were asked for do the same, only more slowly.
        let mut orders = Vec::new();
        for number in 0..jobs.max(1) {
            match start_one(number) {
                Ok(order) => orders.push(order),
                Err(error) if orders.is_empty() => return Err(ExploreError::NoThread(error)),
                Err(_) => break,
            }
        }
        Ok(Workers { orders, messages })
    }

    /// Runs a batch, by one worker or by several; returns what was run, in order. Calls `progress` now and then, and the moment that there is
    /// news.
    pub(crate) fn run(
        &self,
        batch: &Arc<Batch>,
        side_by_side: bool,
        progress: &dyn Fn(Option<News>),
    ) -> Vec<Ran> {
        let busy = self.orders.iter().take(if side_by_side { batch.plans.len() } else { 1 });
        let mut waiting = busy.filter(|order| order.send(Arc::clone(batch)).is_ok()).count();
        let mut ran = Vec::with_capacity(batch.plans.len());
        while waiting > 0 {
            match self.messages.recv_timeout(PROGRESS) {
                Ok(Message::News(news)) => progress(Some(news)),
                Ok(Message::Done(mut report)) => {
                    ran.append(&mut report);
                    waiting -= 1;
                }
                Err(RecvTimeoutError::Timeout) => progress(None),
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
    messages: Sender<Message>,
    runner: Option<Briefed<L::Runner>>,
    /// It has started the program, if only once.
    is_counted: bool,
}

/// A runner, with what it has been given.
struct Briefed<R> {
    runner: R,
    shared: usize,
    pool: u32,
    max_steps: u64,
    uninstrumented: usize,
}

impl<L: Launch> Worker<'_, L> {
    fn work(&mut self, batch: &Batch) -> Vec<Ran> {
        let mut report = Vec::new();
        while let Some(place) = batch.take(&self.limits) {
            let result = self.run(batch, &batch.plans[place]);
            let result = result.map(|run| self.examine(batch, place, run));
            self.account_for_checkpoints();
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
            none => {
                let runner = self.launch.launch()?;
                if !std::mem::replace(&mut self.is_counted, true) {
                    self.tally.workers.fetch_add(1, Ordering::Relaxed);
                }
                if !runner.has_fixed_addresses() {
                    self.tally.moves.store(true, Ordering::Relaxed);
                }
                none.insert(Briefed { runner, shared: 0, pool: 0, max_steps: 0, uninstrumented: 0 })
            }
        };
        let Briefing { shared, pool, max_steps, uninstrumented } = &batch.briefing;
        if briefed.shared < shared.len() {
            briefed.runner.learn(&shared[briefed.shared..]);
            briefed.shared = shared.len();
        }
        if briefed.pool != *pool {
            briefed.runner.set_pool(*pool);
            briefed.pool = *pool;
        }
        if briefed.max_steps != *max_steps {
            briefed.runner.set_step_limit(*max_steps);
            briefed.max_steps = *max_steps;
        }
        if briefed.uninstrumented < uninstrumented.len() {
            briefed.runner.uninstrument(&uninstrumented[briefed.uninstrumented..]);
            briefed.uninstrumented = uninstrumented.len();
        }
        let runner = &mut briefed.runner;
        let Some(search) = &plan.search else { return runner.run(plan).map_err(Trouble::Error) };
        let found = search.lock().next(runner, &|| self.limits.reached());
        found.map_err(Trouble::Error)?.ok_or(Trouble::CutShort)
    }

    fn account_for_checkpoints(&mut self) {
        let Some(briefed) = &mut self.runner else { return };
        let Spared { executions, steps, copies } = briefed.runner.take_spared();
        let mut spared = self.tally.spared.lock().unwrap_or_else(PoisonError::into_inner);
        spared.executions += executions;
        spared.steps += steps;
        spared.copies += copies;
    }

    /// Counts and examines the execution, and lets go of what nobody will look at: a batch of long traces would
    /// not fit into memory.
    fn examine(&self, batch: &Batch, place: usize, mut run: Execution) -> Made {
        self.tally.executions.fetch_add(1, Ordering::Relaxed);
        self.tally.steps.fetch_add(run.steps, Ordering::Relaxed);
        self.tally.threads.fetch_max(run.threads, Ordering::Relaxed);
        let plan = &batch.plans[place];
        let profile = plan.profile.then(|| Profile::of(&run.events));
        let found = batch.examiner.examine(&run);
        let executed = batch.examiner.read_calls(&run);
        let ends = batch.examiner.ends_with(&run, &found);
        if ends {
            batch.end_at(place);
        }
        let execution = batch.first + place as u64;
        let is_new_failure = run.outcome.failure().is_some_and(|failure| {
            if !is_unheard(&run) {
                self.tally.failures.fetch_add(1, Ordering::Relaxed);
                self.tally.share.leave_time_for_reports();
            }
            self.tally.is_first(Signature::of(failure), execution)
        });
        if !is_new_failure && !plan.trace && !plan.watched {
            run.events = Vec::new();
            if !plan.reads_switches() {
                run.switches = Vec::new();
            }
            run.output = Vec::new();
        }
        (run.calls, run.lock_sets) = (Vec::new(), Vec::new());
        let run = Arc::new(run);
        // If nobody listens any more, the campaign is over, and has the execution.
        let tell = |news| drop(self.messages.send(Message::News(news)));
        // Whether a panic that nobody hears of is a failure, is not known yet.
        if is_new_failure && !is_unheard(&run) {
            tell(News::Failed(FailedJustNow { execution, run: Arc::clone(&run) }));
        }
        if batch.examiner.finds_results() {
            let news = self.tally.to_be_told(&found, &run);
            if !news.is_empty() {
                tell(News::Found(news));
            }
        }
        Made { run, profile, found, executed, ends }
    }
}
