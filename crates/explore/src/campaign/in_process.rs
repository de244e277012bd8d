//! Campaigns inside one process: a program that offers its closure has it repeated, without a copy for each
//! execution.
//!
//! Whatever is found is run once more in a copy of its own, from the snapshot, and counts only if it fails there in the
//! same way. If it does not, or if the closure is seen to leave something behind, calls of it do not all begin alike.
//! Then the rest of the campaign runs a copy for each execution. So do a few in any case: what comes after the closure
//! has to be run as well.
//!
//! This is no configuration of the campaign loop, because the tested process itself draws the plans and runs thousands of
//! executions before it answers: there is no plan that a strategy could make, and no execution but a failing one that an
//! observer could be shown. Limits, the account and the form of progress are the loop's.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use threadbare_sched::ClosureStrategy;
use threadbare_target::{Batch, Execution, Program, Server, ServerOptions, StartError, Symbols};
use threadbare_trace::Outcome;
use threadbare_wire::Leak;

use super::progress::{FailedJustNow, Progress};
use super::results::{Campaign, Ledger};
use super::unheard_panics::is_unheard;
use super::workers::{Limits, TimeShare};
use crate::error::ExploreError;
use crate::minimise::{is_same_failure, replay};
use crate::options::Options;
use crate::strategies;

/// Steps after which a copy makes room for a fresh one: it bounds what a closure that leaks memory can take, and how
/// long nobody looks whether the time is up.
const STEPS_PER_COPY: u64 = 4_000_000;

/// What came of repeating.
pub(crate) enum Repeated {
    /// The program offers no closure, or the strategy needs a copy for each execution.
    NotAtAll,
    /// The campaign is over.
    Done(Box<Campaign>),
    /// There is something left to run, each execution in a copy of its own: the closure cannot be repeated, or what
    /// comes after it has not been run yet.
    Rest(Box<Rest>),
}

/// What is kept of a campaign that does not end in one process.
pub(crate) struct Rest {
    executions: u64,
    steps: u64,
    threads: u32,
    shared: usize,
    elapsed: Duration,
    /// How many executions are left to make.
    left: u64,
    /// Why the closure cannot be repeated, if that is the reason.
    warning: Option<String>,
    /// How many of them were cut.
    cut: u64,
}

/// How many of a campaign's executions are for what comes after the closure.
fn afterwards(budget: u64) -> u64 {
    const MOST: u64 = 100;
    (budget / 10).clamp(1, MOST)
}

impl Rest {
    /// The options for the rest of the campaign.
    pub(crate) fn options(&self, options: &Options) -> Options {
        let time = options.time.map(|time| time.saturating_sub(self.elapsed).max(time / 10));
        Options { executions: self.left.max(1), time, ..options.clone() }
    }

    /// The account of a campaign that continued with a copy for each execution.
    pub(crate) fn add_to(self, campaign: &mut Campaign) {
        campaign.executions += self.executions;
        campaign.cut += self.cut;
        campaign.exhausted &= self.cut == 0;
        campaign.threads = campaign.threads.max(self.threads);
        campaign.steps += self.steps;
        if campaign.threads < 2 && campaign.found.is_empty() {
            // Looking for shared memory makes steps where there is nothing to decide, too.
            campaign.steps = 0;
        }
        campaign.shared_locations = campaign.shared_locations.max(self.shared);
        campaign.elapsed += self.elapsed;
        campaign.found.iter_mut().for_each(|found| found.execution += self.executions);
        campaign.warnings.splice(0..0, self.warning);
    }
}

/// How a closure is repeated under a strategy, if the strategy needs no answers from outside.
fn for_closures(strategy: &str, wished: Option<ClosureStrategy>) -> Option<ClosureStrategy> {
    match strategies::find(strategy).ok()?.in_process? {
        ClosureStrategy::Mixed => Some(wished.unwrap_or(ClosureStrategy::Mixed)),
        strategy => Some(strategy),
    }
}

/// Repeats the program's closure, if it offers one and the options allow it.
pub(crate) fn run(
    program: &Program,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Repeated, ExploreError> {
    let suits = options.in_process && !options.os_threads && !options.spurious && options.coverage.is_empty();
    if !suits || for_closures(&options.strategy, None).is_none() || !program.offers_closure() {
        return Ok(Repeated::NotAtAll);
    }
    let server = ServerOptions {
        max_steps: options.max_steps,
        most_events: options.most_events(),
        flags: options.flags(),
        stall: options.stall,
        stop: stop.clone(),
    };
    let begin = Instant::now();
    let server = match Server::start(program, &server) {
        Ok(server) => server,
        // The ordinary campaign makes a failure of it.
        Err(StartError::FailedEarly { .. }) => return Ok(Repeated::NotAtAll),
        Err(error) => return Err(error.into()),
    };
    let Some(wishes) = server.closure() else { return Ok(Repeated::NotAtAll) };
    let Some(strategy) = for_closures(&options.strategy, wishes.strategy) else {
        return Ok(Repeated::NotAtAll);
    };
    let share = TimeShare::default();
    let limits = Limits::of(options, begin, stop, &share);
    let wished = |wish: Option<u64>, given: u64| wish.filter(|_| options.heeds_wishes).unwrap_or(given);
    let budget = wished(wishes.executions, options.executions);
    if budget < 2 {
        return Ok(Repeated::NotAtAll);
    }
    let mut repeating = Repeating {
        server,
        options,
        strategy,
        seed: wished(wishes.seed, options.seed),
        budget: budget - afterwards(budget),
        limits,
        ledger: Ledger::of(options),
        shared: 0,
        begin,
    };
    let given_up = repeating.go(progress)?;
    let made = repeating.ledger.executions;
    let is_over = !repeating.ledger.found.is_empty() || repeating.limits.stopped();
    if given_up.is_none() && is_over {
        return Ok(Repeated::Done(Box::new(repeating.close())));
    }
    let left = if given_up.is_some() { budget.saturating_sub(made) } else { afterwards(budget) };
    Ok(Repeated::Rest(Box::new(Rest {
        executions: made,
        steps: repeating.ledger.steps,
        threads: repeating.ledger.threads,
        shared: repeating.shared,
        elapsed: begin.elapsed(),
        left,
        warning: given_up,
        cut: repeating.ledger.cut(),
    })))
}

struct Repeating<'a> {
    server: Server,
    options: &'a Options,
    strategy: ClosureStrategy,
    seed: u64,
    budget: u64,
    limits: Limits<'a>,
    ledger: Ledger,
    shared: usize,
    begin: Instant,
}

impl Repeating<'_> {
    /// Repeats until something ends it; says why the closure cannot be repeated, if that is the reason.
    fn go(&mut self, progress: &dyn Fn(&Progress)) -> Result<Option<String>, ExploreError> {
        while self.ledger.executions < self.budget && self.limits.allow(self.ledger.executions == 0) {
            let batch = Batch {
                strategy: self.strategy,
                seed: self.seed,
                first: self.ledger.executions + 1,
                count: self.budget - self.ledger.executions,
                enough_steps: STEPS_PER_COPY,
            };
            let made = match self.server.repeat(&batch, 0) {
                // The program may have been ended together with the tool.
                Err(_) if self.limits.stopped() => break,
                made => made?,
            };
            self.ledger.enter_passed(made.passed);
            self.ledger.steps += made.steps;
            self.ledger.threads = self.ledger.threads.max(made.threads);
            self.server.learn(&made.discovered);
            self.server.set_pool(made.peak_threads.saturating_sub(1));
            self.shared += made.discovered.len();
            progress(&self.progress(None));
            match made.leak {
                Leak::Nothing => {}
                Leak::Threads => return Ok(Some(why_not_repeated("leaves threads running"))),
                Leak::Files => return Ok(Some(why_not_repeated("changes files"))),
                Leak::Memory => {
                    let what = format!("changes {}, which outlives it", self.name(made.leak_at));
                    return Ok(Some(why_not_repeated(&what)));
                }
            }
            if let Some(failed) = made.failed {
                if !self.take_in(failed, progress)? {
                    let what = "fails in a way that does not come again in a process of its own";
                    return Ok(Some(why_not_repeated(what)));
                }
                if !self.options.keep_going && !self.ledger.found.is_empty() {
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Runs a failing repetition from the snapshot, and enters it if it fails in the same way.
    fn take_in(&mut self, failed: Execution, progress: &dyn Fn(&Progress)) -> Result<bool, ExploreError> {
        if let Outcome::Cut(_) = failed.outcome {
            self.ledger.enter(&format!("{}, in process", self.strategy.name()), Arc::new(failed));
            return Ok(true);
        }
        let Outcome::Failed(failure) = &failed.outcome else {
            // It called `exit`, or cannot be kept under control: the ordinary campaign says so.
            return Ok(false);
        };
        let plan = replay(&failed.switches);
        let mut again = self.server.run(&plan.policy, 0)?;
        if !again.outcome.failure().is_some_and(|seen| is_same_failure(failure, seen)) {
            return Ok(false);
        }
        again.divergence = None;
        let run = Arc::new(again);
        let execution = self.ledger.executions + 1;
        self.ledger.enter(&format!("{}, in process", self.strategy.name()), Arc::clone(&run));
        if !is_unheard(&run) || !self.ledger.found.is_empty() {
            progress(&self.progress(Some(FailedJustNow { execution, run })));
        }
        Ok(true)
    }

    fn name(&self, address: u64) -> String {
        let symbols = Symbols::new(self.server.modules());
        let region = self.server.modules().region(address).map(|region| region.name.as_str());
        match symbols.data(address, threadbare_target::Part::Whole) {
            Some(name) => format!("`{name}`"),
            None if region == Some("stack") => "a variable of its caller".to_string(),
            None => "memory that was allocated before".to_string(),
        }
    }

    fn progress(&self, failed: Option<FailedJustNow>) -> Progress {
        Progress {
            executions: self.ledger.executions,
            budget: self.budget,
            steps: self.ledger.steps,
            threads: self.ledger.threads,
            failures: self.ledger.failures.iter().map(|(_, count)| count).sum(),
            elapsed: self.begin.elapsed(),
            time: self.options.time,
            coverage: Vec::new(),
            best: None,
            failed,
            found: Vec::new(),
        }
    }

    fn close(self) -> Campaign {
        let mut ledger = self.ledger;
        if let Some(warning) = self.server.unexplored() {
            ledger.warn(warning);
        }
        let modules = Arc::new(self.server.modules().clone());
        let account = ledger.close(self.begin.elapsed(), self.limits.stopped());
        Campaign { shared_locations: self.shared, modules, ..account }
    }
}

fn why_not_repeated(what: &str) -> String {
    format!(
        "the closure {what}, so it was not repeated in one process: every execution is a process of its own"
    )
}
