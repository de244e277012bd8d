//! The campaign loop: plan a batch, run it, learn from it, until something ends it.
//!
//! Batches grow from one execution to 64, whatever the number of jobs. Everything that depends on
//! earlier executions (plans, learned sharing, statistics) changes between batches only, and of
//! several failures in one batch the first counts. So the result depends on the seed alone.

mod in_process;
pub(crate) mod progress;
pub(crate) mod results;
pub(crate) mod workers;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use threadbare_target::{Execution, Program, ServerOptions};
use threadbare_trace::FailureKind;
use threadbare_wire::flags;

use self::results::Ledger;
pub use self::results::{Campaign, CampaignVerdict, Found};
use self::workers::{Batch, Limits, Ran, Standing, Tally, Workers};
use crate::coverage::Measuring;
use crate::error::ExploreError;
use crate::history::History;

use self::in_process::Repeated;
use self::progress::PolicyScores;
pub use self::progress::{CoverageProgress, Progress};
use crate::options::Options;
use crate::runner::{Launch, Servers, Trouble};
use crate::strategies::by_name;
use crate::strategy::Strategy;

/// The largest batch. It bounds how stale learned sharing can be.
const LARGEST_BATCH: u64 = 64;

/// After how many executions, none of them under control, there is no point in going on.
const HOPELESS: u64 = 4;

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
    let rest = match in_process::run(program, options, progress, stop)? {
        Repeated::Done(campaign) => return Ok(*campaign),
        Repeated::Rest(rest) => Some(rest),
        Repeated::NotAtAll => None,
    };
    let server = ServerOptions {
        max_steps: options.max_steps,
        flags: options.flags(),
        stall: options.stall,
        stop: stop.clone(),
    };
    let servers = Servers { program, options: server, checkpoint_gap: options.checkpoint_gap };
    let Some(rest) = rest else { return run_measured(&servers, options, measuring, progress, stop) };
    let mut campaign = run_measured(&servers, &rest.options(options), measuring, progress, stop)?;
    rest.add_to(&mut campaign);
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
        let crew = Workers::hire(scope, launch, options.jobs, limits, &tally);
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
    scores: PolicyScores,
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
            scores: PolicyScores::default(),
            complete: true,
            saturated: false,
        }
    }

    fn go(
        &mut self,
        strategy: &mut dyn Strategy,
        crew: &Workers,
        tell: &dyn Fn(),
    ) -> Result<(), ExploreError> {
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
        let is_whole =
            |run: &Execution| !is_cut_short(run, self.options.max_steps) && !run.leaves_code_unexplored;
        self.complete &= runs.iter().all(|(_, run, _)| is_whole(run));
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
            self.scores.enter(name, has_failed, self.measuring.covered() - before);
            failed |= has_failed;
            if self.options.until_saturated && self.measuring.is_saturated() {
                self.saturated = true;
                self.complete &= place + 1 == batch.plans.len();
                return Ok(false);
            }
        }
        let best = self.scores.best().map(str::to_string);
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
        for warning in strategy.warnings(&self.options.strategy) {
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
            (false, _) => CampaignVerdict::Failure,
            (true, true) => CampaignVerdict::Exhausted,
            (true, false) => CampaignVerdict::Clean,
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
