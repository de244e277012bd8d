//! The campaign loop: plan a batch, run it, learn from it, until something ends it.
//!
//! Batches grow from one execution to 64, whatever the number of jobs. Everything that depends on
//! earlier executions (plans, learned sharing, statistics) changes between batches only, and of
//! several failures in one batch the first counts. So the result depends on the seed alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use threadbare_target::{Execution, Program, ServerOptions};
use threadbare_trace::FailureKind;
use threadbare_wire::{LearnedRecord, flags};

use crate::checkpoints::CHECKPOINT_GAP;
use crate::coverage::Measuring;
use crate::crew::{Batch, Crew, Limits, Ran, Standing, Tally};
use crate::error::ExploreError;
use crate::history::History;
use crate::ledger::{Campaign, Ledger, Verdict};
use crate::repeat::{self, Repeated};
use crate::runner::{Launch, Servers, Trouble};
use crate::saturation::SaturationRule;
use crate::standing::{CoverageStanding, Merits};
use crate::strategy::{Strategy, by_name};

/// The largest batch. It bounds how stale learned sharing can be.
const LARGEST_BATCH: u64 = 64;

/// After how many executions, none of them under control, there is no point in going on.
const HOPELESS: u64 = 4;

/// What to do in a campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of a strategy; see [`crate::STRATEGIES`].
    pub strategy: String,
    /// The seed: same seed, same result.
    pub seed: u64,
    /// The most executions to make.
    pub executions: u64,
    /// The time after which no further execution begins.
    pub time: Option<Duration>,
    /// How many executions run at once.
    pub jobs: usize,
    /// Visible steps after which an execution counts as hung.
    pub max_steps: u64,
    /// Go on after a failure.
    pub keep_going: bool,
    /// The bug depth of `pct`.
    pub pct_depth: u32,
    /// How likely an operation is delayed by the `delay` strategies.
    pub delay_probability: f64,
    /// How many sub-traces `ars` goes on with.
    pub ars_width: usize,
    /// Go on from snapshots in the middle of executions, where a strategy can.
    pub snapshots: bool,
    /// The steps from one checkpoint to the next, where executions may go on from those of others; none for always from the
    /// beginning.
    pub checkpoint_gap: Option<u64>,
    /// The most preemptions of an interleaving that `dfs` runs.
    pub preemption_bound: Option<u32>,
    /// Condition waits may wake without a signal.
    pub spurious: bool,
    /// Every thread of the program is an operating-system thread.
    pub os_threads: bool,
    /// A non-zero exit status is not a failure.
    pub any_exit: bool,
    /// How long one execution may make no progress in real time.
    pub stall: Duration,
    /// The coverage criteria to measure by; see `threadbare_analysis::coverage`.
    pub coverage: Vec<String>,
    /// When a criterion counts as saturated.
    pub saturation: SaturationRule,
    /// End the campaign when all criteria are saturated.
    pub until_saturated: bool,
    /// What is known to be shared beforehand. Then no execution makes additional scheduling points to find
    /// out.
    pub known: Option<Arc<Vec<LearnedRecord>>>,
    /// Repeat the closure of a program that offers one inside one process, where the strategy can.
    pub in_process: bool,
    /// Such a closure's own wishes count before `executions` and `seed`.
    pub heeds_wishes: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            strategy: "auto".to_string(),
            seed: 1,
            executions: 10_000,
            time: None,
            jobs: 1,
            max_steps: 1_000_000,
            keep_going: false,
            pct_depth: 3,
            delay_probability: 0.1,
            ars_width: 5,
            snapshots: true,
            checkpoint_gap: Some(CHECKPOINT_GAP),
            preemption_bound: None,
            spurious: false,
            os_threads: false,
            any_exit: false,
            stall: Duration::from_secs(10),
            coverage: Vec::new(),
            saturation: SaturationRule::default(),
            until_saturated: false,
            known: None,
            in_process: true,
            heeds_wishes: false,
        }
    }
}

impl Options {
    /// Measures by the criteria that are asked for.
    pub fn measuring(&self) -> Result<Measuring, ExploreError> {
        Measuring::by(&self.coverage, self.saturation)
    }

    pub(crate) fn flags(&self) -> u32 {
        let bit = |set: bool, flag: u32| if set { flag } else { 0 };
        bit(self.spurious, flags::SPURIOUS)
            | bit(self.os_threads, flags::OS_THREADS)
            | bit(self.any_exit, flags::ANY_EXIT)
    }
}

/// How far a campaign is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Executions made so far.
    pub executions: u64,
    /// The most that will be made.
    pub budget: u64,
    /// Visible steps so far.
    pub steps: u64,
    /// Executions that failed so far.
    pub failures: u64,
    /// The time so far.
    pub elapsed: Duration,
    /// The most time that it will take.
    pub time: Option<Duration>,
    /// How much was covered so far, by the criteria asked for.
    pub coverage: Vec<CoverageStanding>,
    /// The policy that has come to most so far.
    pub best: Option<String>,
}

/// Looks for a failing interleaving of the program.
///
/// `progress` is called now and then; `stop` ends the campaign and keeps what was found.
pub fn hunt(
    program: &Program,
    options: &Options,
    progress: &(dyn Fn(&Progress) + Sync),
    stop: &Arc<AtomicBool>,
) -> Result<Campaign, ExploreError> {
    hunt_measured(program, options, &mut options.measuring()?, progress, stop)
}

/// The same for one of several campaigns whose coverage counts together: `measuring` goes from one to the next.
pub fn hunt_measured(
    program: &Program,
    options: &Options,
    measuring: &mut Measuring,
    progress: &(dyn Fn(&Progress) + Sync),
    stop: &Arc<AtomicBool>,
) -> Result<Campaign, ExploreError> {
    if options.executions == 0 {
        return Err(ExploreError::NoExecutions);
    }
    let given_up = match repeat::run(program, options, progress, stop)? {
        Repeated::Done(campaign) => return Ok(*campaign),
        Repeated::GivenUp(given_up) => Some(given_up),
        Repeated::NotAtAll => None,
    };
    let server = ServerOptions {
        max_steps: options.max_steps,
        flags: options.flags(),
        stall: options.stall,
        stop: stop.clone(),
    };
    let servers = Servers { program, options: server, checkpoint_gap: options.checkpoint_gap };
    let Some(given_up) = given_up else { return run_measured(&servers, options, measuring, progress, stop) };
    let mut campaign = run_measured(&servers, &given_up.rest(options), measuring, progress, stop)?;
    given_up.add_to(&mut campaign);
    Ok(campaign)
}

/// Runs a campaign on whatever the launcher starts.
pub(crate) fn run<L: Launch>(
    launch: &L,
    options: &Options,
    progress: &(dyn Fn(&Progress) + Sync),
    stop: &AtomicBool,
) -> Result<Campaign, ExploreError> {
    run_measured(launch, options, &mut options.measuring()?, progress, stop)
}

fn run_measured<L: Launch>(
    launch: &L,
    options: &Options,
    measuring: &mut Measuring,
    progress: &(dyn Fn(&Progress) + Sync),
    stop: &AtomicBool,
) -> Result<Campaign, ExploreError> {
    if options.executions == 0 {
        return Err(ExploreError::NoExecutions);
    }
    let mut strategy = by_name(options)?;
    let begin = Instant::now();
    let tally = Tally::default();
    let deadline = options.time.and_then(|time| begin.checked_add(time));
    let limits = Limits { stop, deadline, keep_going: options.keep_going };
    let tell = || {
        let Standing { coverage, best } = tally.standing();
        progress(&Progress {
            executions: tally.executions.load(Ordering::Relaxed),
            budget: options.executions,
            steps: tally.steps.load(Ordering::Relaxed),
            failures: tally.failures.load(Ordering::Relaxed),
            elapsed: begin.elapsed(),
            time: options.time,
            coverage,
            best,
        });
    };
    let mut conduct = Conduct::new(options, limits, measuring, begin, &tally);
    thread::scope(|scope| {
        let crew = Crew::hire(scope, launch, options.jobs, limits, &tally);
        conduct.go(strategy.as_mut(), &crew, &tell)
    })?;
    tell();
    conduct.close(strategy.as_ref(), begin.elapsed())
}

/// A campaign under way.
struct Conduct<'a> {
    options: &'a Options,
    limits: Limits<'a>,
    ledger: Ledger,
    history: History,
    measuring: &'a mut Measuring,
    begin: Instant,
    tally: &'a Tally,
    merits: Merits,
    /// Every plan was run, each to its end: the strategy may claim to be through. A failure that ends the campaign does
    /// not contradict that if nothing was left to run.
    complete: bool,
    /// All criteria were saturated, and that was to be the end.
    saturated: bool,
}

impl<'a> Conduct<'a> {
    fn new(
        options: &'a Options,
        limits: Limits<'a>,
        measuring: &'a mut Measuring,
        begin: Instant,
        tally: &'a Tally,
    ) -> Conduct<'a> {
        let history = History::knowing(options.known.clone().unwrap_or_default());
        Conduct {
            options,
            limits,
            ledger: Ledger::default(),
            history,
            measuring,
            begin,
            tally,
            merits: Merits::default(),
            complete: true,
            saturated: false,
        }
    }

    fn go(&mut self, strategy: &mut dyn Strategy, crew: &Crew, tell: &dyn Fn()) -> Result<(), ExploreError> {
        let mut planned = 0;
        for number in 0.. {
            let count = batch_size(number).min(self.options.executions - planned);
            let mut plans = strategy.plan(planned + 1, count as usize, &self.history);
            if self.options.known.is_some() {
                plans.iter_mut().for_each(|plan| plan.flags &= !flags::PROBE);
            }
            plans.iter_mut().for_each(|plan| plan.watched = self.measuring.is_on());
            if plans.is_empty() {
                return Ok(());
            }
            let pool =
                if self.options.os_threads { 0 } else { self.history.peak_threads().saturating_sub(1) };
            let batch = Arc::new(Batch::new(planned + 1, plans, Arc::clone(self.history.shared()), pool));
            planned += batch.plans.len() as u64;
            let ran = crew.run(&batch, tell);
            let go_on = self.take_in(strategy, &batch, ran)?;
            tell();
            if self.ledger.executions >= HOPELESS && self.ledger.nothing_was_controlled() {
                return Ok(());
            }
            if !go_on || strategy.exhausted() || planned >= self.options.executions || self.limits.reached() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Enters a batch into the books; says whether the campaign may go on.
    fn take_in(
        &mut self,
        strategy: &mut dyn Strategy,
        batch: &Batch,
        ran: Vec<Ran>,
    ) -> Result<bool, ExploreError> {
        let mut runs = Vec::with_capacity(ran.len());
        let mut trouble = None;
        for Ran { place, result } in ran {
            match result {
                Ok((run, profile)) => {
                    let failed = run.outcome.failure().is_some();
                    runs.push((place, run, profile));
                    if failed && !self.limits.keep_going {
                        break;
                    }
                }
                Err(met) => {
                    trouble = Some(met);
                    break;
                }
            }
        }
        self.complete &= runs.len() == batch.plans.len();
        self.complete &= !runs.iter().any(|(_, run, _)| is_cut_short(run, self.options.max_steps));
        let news = self.history.absorb(runs.iter().map(|(place, run, profile)| {
            let probing = batch.plans[*place].flags & flags::PROBE != 0;
            (run, profile.as_ref(), !probing)
        }));
        let pairs: Vec<_> = runs.iter().map(|(place, run, _)| (&batch.plans[*place], run)).collect();
        let learned = strategy.learn(&pairs, news, &|| self.limits.reached());
        let mut failed = false;
        for (place, run, _) in runs {
            let before = self.measuring.covered();
            if self.measuring.is_on() {
                self.measuring.observe(&run, self.begin.elapsed());
            }
            let name = &batch.plans[place].name;
            let has_failed = self.ledger.enter(name, run);
            self.merits.enter(name, has_failed, self.measuring.covered() - before);
            failed |= has_failed;
            if self.options.until_saturated && self.measuring.is_saturated() {
                self.saturated = true;
                self.complete &= place + 1 == batch.plans.len();
                return Ok(false);
            }
        }
        let best = self.merits.best().map(str::to_string);
        self.tally.stand(Standing { coverage: self.measuring.standing(), best });
        if failed && !self.limits.keep_going {
            return Ok(false);
        }
        match trouble {
            Some(Trouble::Crashed(run)) => {
                self.ledger.enter("start-up", *run);
                return Ok(false);
            }
            Some(Trouble::CutShort) => return Ok(false),
            Some(Trouble::Error(error)) => return self.give_up(error),
            None => {}
        }
        match learned {
            Ok(()) => Ok(true),
            Err(error) => self.give_up(error),
        }
    }

    /// What was found counts for more than what went wrong afterwards.
    fn give_up(&mut self, error: ExploreError) -> Result<bool, ExploreError> {
        self.complete = false;
        if self.limits.stopped() {
            return Ok(false);
        }
        if self.ledger.found.is_empty() {
            return Err(error);
        }
        self.ledger.warn(&format!("the campaign ended early: {error}"));
        Ok(false)
    }

    fn close(mut self, strategy: &dyn Strategy, elapsed: Duration) -> Result<Campaign, ExploreError> {
        for warning in strategy.warnings() {
            self.ledger.warn(&warning);
        }
        let Ledger { executions, uncontrolled, .. } = self.ledger;
        if let Some(why) = self.ledger.why_uncontrolled.take() {
            if uncontrolled == executions {
                return Err(ExploreError::Uncontrolled(why));
            }
            self.ledger.warn(&format!(
                "{uncontrolled} of {executions} executions could not be kept under control: {why}"
            ));
        }
        let exhausted = self.complete && strategy.exhausted();
        let verdict = match (self.ledger.found.is_empty(), exhausted) {
            (false, _) => Verdict::Failure,
            (true, true) => Verdict::Exhausted,
            (true, false) => Verdict::Clean,
        };
        Ok(Campaign {
            verdict,
            executions,
            steps: self.ledger.steps,
            threads: self.ledger.threads,
            elapsed,
            found: self.ledger.found,
            failures: self.ledger.failures,
            uncontrolled,
            exhausted,
            snapshots: strategy.snapshots(),
            coverage: self.measuring.account(),
            effort: strategy.effort(),
            bound: if exhausted { strategy.bound() } else { None },
            warnings: self.ledger.warnings,
            shared_locations: self.history.shared().len(),
            interrupted: self.limits.stopped(),
            saturated: self.saturated,
            modules: self.ledger.modules,
        })
    }
}

/// Whether an execution was ended from outside, so that it is not known what would have come. (A hang that is sure ends
/// before the limit.)
fn is_cut_short(run: &Execution, max_steps: u64) -> bool {
    let hangs = run.outcome.failure().is_some_and(|failure| failure.kind == FailureKind::Hang);
    run.stalled || (hangs && run.steps >= max_steps)
}

/// 1, 1, 2, 4, … executions: the first ones teach the most.
fn batch_size(number: u32) -> u64 {
    1u64.checked_shl(number.saturating_sub(1)).map_or(LARGEST_BATCH, |size| size.min(LARGEST_BATCH))
}
