//! The campaign loop: plan a batch, run it, show it to the observers, learn from it, until something ends it.
//!
//! All commands that explore are configurations of it: a strategy that plans, workers that run, and observers that make
//! something of the executions. Limits (`--executions`, `--time`, signals) and `--jobs` are obeyed here and nowhere else, but
//! for closures that are repeated inside one process; `in_process.rs` says why.
//!
//! The sizes of batches do not depend on the number of jobs. Everything that depends on earlier executions (plans,
//! learned sharing, statistics, observers) changes between batches only, and of several executions in one batch that
//! end a phase the first counts. So the result depends on the seed alone.

pub(crate) mod control;
pub(crate) mod given_up;
mod hunt;
mod in_process;
pub(crate) mod observer;
pub(crate) mod progress;
pub(crate) mod results;
mod unheard_panics;
pub(crate) mod workers;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use threadbare_target::Execution;
use threadbare_trace::Outcome;
use threadbare_wire::flags;

pub(crate) use self::hunt::run;
pub use self::hunt::{hunt, hunt_measured};
use self::observer::{Examiner, Observed, Observer};
use self::progress::News;
pub use self::progress::{CoverageProgress, FailedJustNow, Progress};
pub use self::results::{Campaign, CampaignVerdict, Found};
use self::workers::{Batch, BatchResults, Briefing, Limits, Made, Ran, Tally, Workers};
use crate::check::Examined;
use crate::checkpoints::Spared;
use crate::error::ExploreError;
use crate::history::History;
use crate::kept_events::bytes_of;
use crate::options::Options;
use crate::runner::{Launch, Trouble};
use crate::strategy::Strategy;

/// A campaign begins with no further knowledge, runs one or several phases, and ends with the workers.
pub(crate) fn conduct<L: Launch, T>(
    launch: &L,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &AtomicBool,
    phases: impl FnOnce(&mut Conduct<'_>) -> Result<T, ExploreError>,
) -> Result<T, ExploreError> {
    let begin = Instant::now();
    let tally = Tally::of(options);
    let limits = Limits::of(options, begin, stop, &tally.share);
    thread::scope(|scope| {
        let workers = Workers::start(scope, launch, options.jobs, limits, &tally)?;
        phases(&mut Conduct {
            options,
            limits,
            tally: &tally,
            workers,
            progress,
            begin,
            history: History::knowing(options.known.clone().unwrap_or_default()),
            longest: 0,
            planned: 0,
            made: 0,
            complete: true,
            crashed: false,
            uninstrumented: Arc::default(),
        })
    })
}

/// What one strategy is to do in a campaign.
pub(crate) struct Phase {
    /// The most executions that it makes.
    pub(crate) executions: u64,
    /// The most that are planned at once. It bounds how stale learned sharing can be, and how many traces are held in
    /// memory; and no more than this many workers are of use.
    pub(crate) largest_batch: u64,
    /// What workers make of each execution.
    pub(crate) examiner: Arc<dyn Examiner>,
}

/// A campaign under way.
pub(crate) struct Conduct<'a> {
    pub(crate) options: &'a Options,
    limits: Limits<'a>,
    tally: &'a Tally,
    workers: Workers,
    progress: &'a dyn Fn(&Progress),
    begin: Instant,
    history: History,
    /// The most bytes of an execution whose trace was kept until its batch was over.
    longest: u64,
    /// Executions that were planned; the next plan has the number after.
    planned: u64,
    /// Executions that were shown to observers.
    made: u64,
    complete: bool,
    crashed: bool,
    uninstrumented: Arc<Vec<u64>>,
}

impl Conduct<'_> {
    /// From now on, accesses at these places in the executable's file are not announced.
    pub(crate) fn uninstrument(&mut self, places: &[u64]) {
        Arc::make_mut(&mut self.uninstrumented).extend(places);
    }

    /// What the batches so far have taught.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Executions that counted so far.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// Whether every plan was run, each to its end: then a strategy may claim to be through. A failure that ends the
    /// campaign does not contradict that if nothing was left to run.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether nothing more may be run.
    pub(crate) fn is_over(&self) -> bool {
        self.crashed || self.limits.reached()
    }

    /// From now on, no more of the time may be spent than this many percent of all.
    pub(crate) fn spend_until(&self, percent: u32) {
        self.tally.share.set(percent);
    }

    /// Whether the user ended it.
    pub(crate) fn is_stopped(&self) -> bool {
        self.limits.stopped()
    }

    /// The time since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// How many workers have started the program.
    pub(crate) fn workers(&self) -> u64 {
        self.tally.workers.load(Ordering::Relaxed)
    }

    /// Whether the program is loaded at the same addresses in all workers.
    pub(crate) fn has_fixed_addresses(&self) -> bool {
        !self.tally.moves.load(Ordering::Relaxed)
    }

    /// What continuing from checkpoints saved. It depends on which worker ran what.
    pub(crate) fn spared(&self) -> Spared {
        self.tally.spared()
    }

    /// Reports how far it is.
    pub(crate) fn report_progress(&self) {
        self.report(None);
    }

    /// Tells of what was found or made to happen, so that it is known whatever becomes of the campaign.
    pub(crate) fn tell(&self, found: Vec<Examined>) {
        if !found.is_empty() {
            self.report(Some(News::Found(found)));
        }
    }

    fn report(&self, news: Option<News>) {
        let (failed, found) = match news {
            Some(News::Failed(failed)) => (Some(failed), Vec::new()),
            Some(News::Found(found)) => (None, found),
            None => (None, Vec::new()),
        };
        let BatchResults { coverage, best } = self.tally.batch_results();
        (self.progress)(&Progress {
            executions: self.tally.executions.load(Ordering::Relaxed),
            budget: self.options.executions,
            steps: self.tally.steps.load(Ordering::Relaxed),
            threads: self.tally.threads.load(Ordering::Relaxed),
            failures: self.tally.failures.load(Ordering::Relaxed),
            elapsed: self.begin.elapsed(),
            time: self.options.time,
            coverage,
            best,
            failed,
            found,
        });
    }

    /// Runs what a strategy plans until it has no more plans, claims to be through, an observer or the examiner
    /// asks for the end, or a limit is reached.
    pub(crate) fn follow(
        &mut self,
        strategy: &mut dyn Strategy,
        phase: &Phase,
        observers: &mut [&mut dyn Observer],
    ) -> Result<(), ExploreError> {
        let mut left = phase.executions;
        for number in 0.. {
            // One execution is always made: a campaign of none would say nothing.
            if left == 0 || self.crashed || (self.planned > 0 && self.limits.reached()) {
                break;
            }
            let count = batch_size(number, phase.largest_batch).min(left).min(self.fit_at_once());
            let mut plans = strategy.plan(self.planned + 1, count as usize, &self.history);
            if plans.is_empty() {
                break;
            }
            let watched = observers.iter().any(|observer| observer.reads_events());
            for plan in &mut plans {
                plan.watched = watched;
                if self.options.known.is_some() {
                    plan.flags &= !flags::PROBE;
                }
            }
            let pool =
                if self.options.os_threads { 0 } else { self.history.peak_threads().saturating_sub(1) };
            let shared = Arc::clone(self.history.shared());
            let max_steps = match self.options.measures_length {
                true => self.history.step_limit().min(self.options.max_steps),
                false => self.options.max_steps,
            };
            let uninstrumented = Arc::clone(&self.uninstrumented);
            let briefing = Briefing { shared, pool, max_steps, uninstrumented };
            let examiner = Arc::clone(&phase.examiner);
            let batch = Arc::new(Batch::new(self.planned + 1, plans, briefing, examiner));
            self.planned += batch.plans.len() as u64;
            left = left.saturating_sub(batch.plans.len() as u64);
            let ran = self.workers.run(&batch, self.has_fixed_addresses(), &|news| self.report(news));
            let flow = self.take_in(strategy, observers, &batch, ran)?;
            self.report_progress();
            if flow.is_break() || strategy.exhausted() {
                break;
            }
        }
        Ok(())
    }

    /// How many executions fit into memory at once.
    fn fit_at_once(&self) -> u64 {
        /// Of the memory that may be used, with as much again for what is shared with the program and what detectors need.
        const SHARE: u64 = 4;
        (self.options.memory / SHARE / self.longest.max(1)).max(1)
    }

    /// Shows a batch to everybody; says whether the phase may continue.
    fn take_in(
        &mut self,
        strategy: &mut dyn Strategy,
        observers: &mut [&mut dyn Observer],
        batch: &Batch,
        ran: Vec<Ran>,
    ) -> Result<ControlFlow<()>, ExploreError> {
        let mut runs = Vec::with_capacity(ran.len());
        let mut trouble = None;
        let mut flow = ControlFlow::Continue(());
        for Ran { place, result } in ran {
            match result {
                Ok(made) => {
                    let ends = made.ends;
                    runs.push((place, made));
                    if ends {
                        flow = ControlFlow::Break(());
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
            |run: &Execution| !matches!(run.outcome, Outcome::Cut(_)) && !run.leaves_code_unexplored;
        self.complete &= runs.iter().all(|(_, made)| is_whole(&made.run));
        let sharing_grew = self.history.absorb(runs.iter().map(|(place, made)| {
            let probing = batch.plans[*place].flags & flags::PROBE != 0;
            (&*made.run, made.profile.as_ref(), !probing)
        }));
        let kept = runs.iter().filter(|(place, _)| batch.plans[*place].trace || batch.plans[*place].watched);
        self.longest = kept.map(|(_, made)| bytes_of(&made.run)).fold(self.longest, u64::max);
        let mut enough_at = None;
        for (place, Made { run, found, executed, .. }) in &runs {
            self.made += 1;
            let (number, plan, elapsed) = (self.made, &batch.plans[*place], self.begin.elapsed());
            let executed = executed.as_ref();
            let seen = Observed { number, plan, run, found, executed, sharing_grew, elapsed };
            let mut is_enough = false;
            for observer in &mut *observers {
                is_enough |= observer.observe(&seen).is_break();
            }
            if is_enough {
                enough_at = Some(*place);
                break;
            }
        }
        // To learn can take long, and what was found must not be lost meanwhile.
        self.tell(observers.iter_mut().flat_map(|observer| observer.news()).collect());
        let pairs: Vec<_> = runs.iter().map(|(place, made)| (&batch.plans[*place], &*made.run)).collect();
        let learned = strategy.learn(&pairs, sharing_grew, &|| self.limits.reached());
        if let Some(place) = enough_at {
            self.complete &= place + 1 == batch.plans.len();
            return Ok(ControlFlow::Break(()));
        }
        let mut results = BatchResults::default();
        observers.iter().for_each(|observer| observer.report_results(&mut results));
        self.tally.set_batch_results(results);
        if flow.is_break() {
            return Ok(flow);
        }
        match (trouble, learned) {
            (Some(Trouble::Crashed(run)), _) => {
                self.crashed = true;
                self.made += 1;
                let run = Arc::from(run);
                self.report(Some(News::Failed(FailedJustNow {
                    execution: self.made,
                    run: Arc::clone(&run),
                })));
                observers.iter_mut().for_each(|observer| observer.crashed(&run));
                Ok(ControlFlow::Break(()))
            }
            (Some(Trouble::CutShort), _) => Ok(ControlFlow::Break(())),
            (Some(Trouble::Error(error)), _) | (None, Err(error)) => {
                self.complete = false;
                // The program may have been ended together with the tool.
                if self.limits.stopped() { Ok(ControlFlow::Break(())) } else { Err(error) }
            }
            (None, Ok(())) => Ok(ControlFlow::Continue(())),
        }
    }
}

/// 1, 1, 2, 4, … executions: the first ones teach the most.
fn batch_size(number: u32, largest: u64) -> u64 {
    1u64.checked_shl(number.saturating_sub(1)).map_or(largest, |size| size.min(largest))
}
